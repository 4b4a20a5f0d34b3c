"""What an answer looks like, learnt from several solutions, so that a reader can turn what it reads into an action."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spade.gates.literals import form_of, form_tokens, labelled


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A final action with a slot: what differs between instances.

    `example` stood in the slot once; group 1 of `pattern` is what may stand in it: numbers for its numbers, words that
    some instance's answer used for its words.
    """

    before: str
    example: str
    after: str
    pattern: re.Pattern[str]

    def filled(self, words: str) -> str:
        """The action with these words in its slot; the words themselves where they do not fit."""
        return f"{self.before}{words}{self.after}" if form_of(words) == form_of(self.example) else words

    def found(self, text: str) -> list[str]:
        """All that could stand in the slot, in the order of the text, overlaps included."""
        return [m[1] for m in self.pattern.finditer(text)]


def answer_form(finals: Sequence[str]) -> AnswerForm | None:
    """The form that most final actions share; None where they are alike in nothing, or in everything."""
    return _answer_form(tuple(finals))


@lru_cache(maxsize=64)
def _answer_form(finals: tuple[str, ...]) -> AnswerForm | None:
    forms = [form_of(action) for action in finals]
    if not forms:
        return None
    shared = max(set(forms), key=forms.count)
    tokens = [form_tokens(action) for action, form in zip(finals, forms, strict=True) if form == shared]
    differing = [at for at in range(len(shared)) if len({t[at] for t in tokens}) > 1]
    if not differing:
        return None
    first, last = differing[0], differing[-1] + 1
    words = "|".join(sorted({re.escape(t) for ts in tokens for t in ts[first:last] if t.isalpha()}))
    parts = ("#" if t.isdecimal() else "w" if t.isalpha() else t for t in tokens[0][first:last])
    pattern = "".join({"#": r"\d+", "w": f"(?:{words})"}.get(part, re.escape(part)) for part in parts)
    # In a lookahead, so that overlaps are found too.
    whole = re.compile(rf"(?<!\w)(?=({pattern})(?!\w))", re.IGNORECASE)
    return AnswerForm("".join(tokens[0][:first]), "".join(tokens[0][first:last]), "".join(tokens[0][last:]), whole)


def readings(text: str, finals: Sequence[str]) -> Mapping[str, str]:
    """Reading rules with the action that each makes of the text."""
    return _readings(text, tuple(finals))


@lru_cache(maxsize=512)
def _readings(text: str, finals: tuple[str, ...]) -> Mapping[str, str]:
    form = answer_form(finals)
    if form is None:
        return labelled(text)
    picks = labelled(text, form.found(text))
    return {rule: form.filled(pick) for rule, pick in picks.items()}
