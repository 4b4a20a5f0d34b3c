"""What the scripted players say. Pure: from texts and a generator to actions."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from spade.gates.literals import bounds, form_of, form_tokens, literals, menu
from spade.gates.source import Source, walk

T = TypeVar("T")
NONSENSE_WORDS = ("answer", "xyzzy", "quux")

_WORD = re.compile(r"[^\W\d_]+")

STATIC_FUZZ: tuple[str, ...] = (
    "",
    " ",
    "\n\n\t",
    "None",
    "0",
    "-1",
    "99999999999999999999999999",
    "1e999",
    "nan",
    "0.5",
    "½ ²",
    "true",
    "[1, 2, 3]",
    '{"action": null}',
    "{{7*7}} ${7*7} %s %(a)s {0.__class__}",
    "\\boxed{\\boxed{1}}",
    "\\boxed{",
    "}{",
    "日本語 العربية 🎲",
    "e\u0301\u202e\u200b\x00\x07\x1b[31m",
    "a b c d e f g h i j k l m n o p",
    "1 2 3 4 5 6 7 8 9",
    "'; drop table x; --",
    "x" * 100_000,
)
"""24 texts that break careless programs."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What looks like a legal action. `pool`: actions of solutions; `menu`: what observations offer; `low` and `high`:
    the range of numbers; `alike`: the parts of the pool's actions, by form; `spans`: least and most of the numbers at
    each place of a form, None where there are none."""

    pool: tuple[str, ...]
    menu: tuple[str, ...]
    low: int
    high: int
    alike: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
    spans: Mapping[tuple[str, ...], Sequence[tuple[int, int] | None]]

    def draw(self, rng: Random) -> str:
        """One legal-looking action: one of the pool, one with its parts exchanged, or one from the menu."""
        if self.menu and (not self.pool or rng.random() < 0.25):
            return pick(self.menu, rng)
        if not self.pool:
            return str(rng.randint(self.low, self.high))
        action = pick(self.pool, rng)
        return self._mixed(action, rng) if rng.random() < 0.6 else action

    def _mixed(self, action: str, rng: Random) -> str:
        form = form_of(action)
        parts, alike, spans = list(form_tokens(action)), self.alike[form], self.spans[form]
        for at, part in enumerate(parts):
            if part.isdecimal():
                least, most = spans[at] or (int(part[:9]), int(part[:9]))
                if rng.random() < 0.25:
                    least, most = min(least, self.low), max(most, self.high)
                parts[at] = str(least + int(rng.random() * (most - least + 1)))
            elif part.isalpha():
                parts[at] = pick(alike, rng)[at]
        return "".join(parts)


def pick(options: Sequence[T], rng: Random) -> T:
    """One of them, at a third of what `rng.choice` costs; thousands are drawn for each program."""
    return options[int(rng.random() * len(options))]


def vocabulary(greetings: Sequence[str], solutions: Sequence[Sequence[str]]) -> Vocabulary:
    """From first observations and solutions of several instances."""
    pool = tuple(dict.fromkeys(a for actions in solutions for a in actions if len(a) <= 2000))
    offered = tuple(dict.fromkeys(word for text in greetings for word in menu(text)))
    fitting = _fitting(offered, pool)
    numbers = [int(p) for a in pool for p in re.findall(r"\d{1,9}", a)]
    ranges = [found for text in greetings if (found := bounds(text))]
    if ranges and (not numbers or all(ranges[0][0] <= n <= ranges[0][1] for n in numbers)):
        low, high = ranges[0]
    else:
        low, high = (min(numbers), max(numbers)) if numbers else (0, 9)
    alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for action in pool[:200]:
        alike.setdefault(form_of(action), []).append(form_tokens(action))
    spans = {form: [_span(column) for column in zip(*parts, strict=True)] for form, parts in alike.items()}
    return Vocabulary(pool[:200], fitting[:40], low, high, alike, spans)


def _span(column: Sequence[str]) -> tuple[int, int] | None:
    numbers = [int(part) for part in column if part.isdecimal() and len(part) <= 9]
    return (min(numbers), max(numbers)) if numbers else None


def redrawn(action: str, rng: Random) -> str:
    """The action with other numbers of as many digits."""
    return re.sub(
        r"\d{1,9}", lambda m: str(rng.randint(10 ** (len(m[0]) - 1) - (len(m[0]) == 1), 10 ** len(m[0]) - 1)), action
    )


def own_words(words: Vocabulary, greeting: str) -> Vocabulary:
    """The vocabulary as a player of this very instance has it: what its own first observation offers comes in."""
    offered = _fitting((*menu(greeting), *literals(greeting)), words.pool)
    return replace(words, menu=tuple(dict.fromkeys((*offered, *words.menu)))[:40])


def shaped_fuzz(solutions: Sequence[Sequence[str]]) -> list[str]:
    """Legal actions broken in the usual ways: cut short, too long, out of range, parts swapped."""
    broken: dict[str, None] = {}
    for action in dict.fromkeys(a for actions in solutions for a in actions[:2]):
        action = action[:500]
        words = action.split()
        for text in (
            words[0] if len(words) > 1 else action[: len(action) // 2],
            f"{action} {action}",
            action.upper(),
            " ".join(reversed(words)),
            re.sub(r"\d+", "999999", action),
            re.sub(r"\d+", "-1", action),
            re.sub(r"\d+", "x", action),
            re.sub(r"\d+", "\u00b2", action),
            _WORD.sub("7", action),
            f"{action},",
            f"  {action}\n{action}  ",
        ):
            if text != action:
                broken.setdefault(text)
        if len(broken) >= 16:
            break
    return list(broken)[:16]


def nonsense(pool: Sequence[str]) -> list[str]:
    """Well-formed actions without meaning: the shape of a legal one, filled with words and numbers of no instance."""
    made: dict[str, None] = dict.fromkeys(("", "\\boxed{}", *NONSENSE_WORDS))
    for action in pool[:3]:
        numbered = re.sub(r"\d+", "7777777", action)[:500]
        verb, space, rest = numbered.partition(" ")
        made.setdefault(_WORD.sub("zq", numbered))
        if space:
            made.setdefault(f"{verb} {_WORD.sub('zq', rest)}")
        elif numbered != action:  # a bare word left as it is would be the answer itself
            made.setdefault(numbered)
    return list(made)


def everything(greetings: Sequence[str], pool: Sequence[str]) -> list[str]:
    """Texts that list all there is to say, for programs that look for the answer somewhere in an action."""
    words = list(dict.fromkeys((*pool, *(word for text in greetings for word in literals(text)))))[:200]
    numbers = " ".join(map(str, range(1000)))
    letters = " ".join("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return [" ".join(words), ", ".join(words), "\n".join(words), numbers, f"{letters} {numbers} {' '.join(words)}"]


def written_constants(source: Source) -> list[str]:
    """Texts and numbers that the program compares something with, alone and combined: answers it may have built in."""
    found: dict[str, None] = {}
    lists: dict[str, None] = {}
    for node in source.of(ast.Compare):
        for part in walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str | int) and part.value not in (True, False):
                found.setdefault(str(part.value))
            elif isinstance(part, ast.List | ast.Tuple):
                words = [str(e.value) for e in part.elts if isinstance(e, ast.Constant)]
                lists.setdefault(" ".join(words) if len(words) > 1 else "")
    verbs = [text for text in found if text.isalpha()][:4]
    combined = [f"{verb} {words}" for words in lists if words for verb in verbs]
    return [text for text in (*found, *lists, *combined) if 0 < len(text) <= 60][:32]


def spoken_verbs(source: Source, greetings: Sequence[str]) -> list[str]:
    """Actions made of the words that the program compares something with, alone, with a number, and with words offered.

    For games whose observation describes its actions without showing one.
    """
    verbs = [text for text in written_constants(source) if text.isalpha() and len(text) <= 12][:6]
    words = list(dict.fromkeys(word for text in greetings for word in menu(text) if " " not in word))[:2]
    return [f"{verb} {what}".strip() for verb in verbs for what in ("", "1", "3", *words)]


def _fitting(offered: Sequence[str], pool: Sequence[str]) -> tuple[str, ...]:
    """The offered words that look like an action that some solution used; all of them where no solution is known."""
    forms = set(map(form_of, pool))
    return tuple(word for word in offered if not pool or form_of(word) in forms)
