"""The gates of a hint: short, and silent about answers (arXiv 2608.19197: at most 100 words on how to reason)."""

import re
from collections.abc import Mapping, Sequence

from spade.gates.literals import menu, normal
from spade.verdicts import Status, Verdict

CODE_WORDS = 8
"""Words in a row that a hint may not share with the program's text."""
SURE_LENGTH = 3
"""Shorter values occur in sentences by chance; they count only as numbers of more than one digit."""
_WORD = re.compile(r"[^\W_]+")
_STRINGS = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")


def judge_hint(
    text: str,
    code: str,
    solutions: Mapping[int, Sequence[str]],
    observations: Mapping[int, str],
    *,
    max_words: int = 100,
) -> tuple[Verdict, ...]:
    """`hint.length` and `hint.no_leak` in this order. `solutions` and `observations` map seeds to the actions of
    `solution()` and to the first observation, as the gates saw them (five seeds)."""
    return hint_length(text, max_words), hint_no_leak(text, code, solutions, observations)


def hint_length(text: str, max_words: int = 100) -> Verdict:
    words = len(text.split())
    if not words:
        return Verdict("hint.length", Status.FAIL, "The hint is empty.", 0, max_words)
    if words > max_words:
        return Verdict(
            "hint.length", Status.FAIL, f"The hint has {words} words; at most {max_words}.", words, max_words
        )
    return Verdict("hint.length", Status.PASS, "", words, max_words)


def hint_no_leak(
    text: str, code: str, solutions: Mapping[int, Sequence[str]], observations: Mapping[int, str]
) -> Verdict:
    """Fail closed: without solutions to compare with, nothing is known of the hint."""
    gate = "hint.no_leak"
    if not solutions:
        return Verdict(gate, Status.ERROR, "There is no solution to compare the hint with.")
    values = leaked_values(text, solutions, observations)
    if values:
        message = (
            f"The hint names {', '.join(map(repr, values[:3]))}, which solves an instance. Say how to find it instead."
        )
        return Verdict(gate, Status.FAIL, message, values[:10], [])
    copied = copied_code(text, code)
    if copied:
        return Verdict(gate, Status.FAIL, f"The hint copies the program: {copied!r}. Use your own words.", [copied], [])
    return Verdict(gate, Status.PASS, "", [], [])


def leaked_values(text: str, solutions: Mapping[int, Sequence[str]], observations: Mapping[int, str]) -> list[str]:
    """Answers of any instance that the hint names: whole actions and their parts, menu words aside.

    A menu word is one that every first observation shows, or that solutions of most instances have in common: naming
    it tells nothing about an instance.
    """
    said = f" {' '.join(_WORD.findall(text.casefold()))} "
    common = _common(solutions, observations)
    found: dict[str, None] = {}
    for actions in solutions.values():
        whole = " ".join(part for action in actions for part in _WORD.findall(action.casefold()))
        if len(actions) > 1 and len(set(actions)) > 1 and f" {whole} " in said:
            found.setdefault(", ".join(actions))
        for action in actions:
            for value in (action, *_WORD.findall(action)):
                spoken = " ".join(_WORD.findall(value.casefold()))
                if spoken and _telling(spoken) and spoken not in common and f" {spoken} " in said:
                    found.setdefault(value)
    return list(found)


def copied_code(text: str, code: str) -> str:
    """A run of words that the hint shares with the program's statements, or the empty string.

    What the program says to the player is not code: texts are left out.
    """
    statements = _WORD.findall(_STRINGS.sub(" ", code).casefold())
    runs = {tuple(statements[at : at + CODE_WORDS]) for at in range(len(statements) - CODE_WORDS + 1)}
    words = _WORD.findall(text.casefold())
    for at in range(len(words) - CODE_WORDS + 1):
        if tuple(words[at : at + CODE_WORDS]) in runs:
            return " ".join(words[at : at + CODE_WORDS])
    return ""


def _common(solutions: Mapping[int, Sequence[str]], observations: Mapping[int, str]) -> set[str]:
    """Words that name no instance: in every first observation, on a menu of all, or in most solutions."""
    counts: dict[str, int] = {}
    for actions in solutions.values():
        parts = {" ".join(_WORD.findall(v.casefold())) for a in actions for v in (a, *_WORD.findall(a))}
        for part in parts:
            counts[part] = counts.get(part, 0) + 1
    common = {part for part, count in counts.items() if len(solutions) > 1 and count * 2 > len(solutions)}
    shown = [_spoken(text) for text in observations.values()]
    menus = [{normal(word) for word in menu(text)} for text in observations.values()]
    if menus:
        common |= set.intersection(*menus)
    return common | {part for part in counts if shown and all(f" {part} " in text for text in shown)}


def _spoken(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _telling(spoken: str) -> bool:
    return len(spoken) > SURE_LENGTH or (spoken.isdigit() and len(spoken) > 1)
