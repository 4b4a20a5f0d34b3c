"""What the memory shows a designer: which remembered environments teach by example, and which only by their fate."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from spade.environments import Environment
from spade.identity import rng_for
from spade.lessons import Example, Lessons, Summary
from spade.settings import MemorySettings
from spade.skills import Skill
from spade.slots import Slot

EXAMPLE_BAND = (0.15, 0.85)
"""Win rates, ends included, of environments worth showing whole."""
MASTERED = 0.9
"""Above this win rate an environment teaches no more."""
OUT_OF_REACH = 0.1
"""Below this win rate an environment teaches nothing yet."""
STALENESS = 0.1
"""The share c of prioritised level replay that goes to what was not looked at for long (arXiv 2010.03934)."""
TEMPERATURE = 0.3
"""The temperature T of prioritised level replay: weight of a rank is (1 / rank)^(1 / T)."""
SUMMARIES = 4
"""Summaries of each kind in one prompt."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A remembered environment in short, with its latest score. Only the order of `order` means anything."""

    env_id: str
    title: str
    mechanic: str
    win_rate: float | None
    regret: float | None
    order: int = 0


class Recollection(Protocol):
    """The part of a memory that knows what was scored."""

    def of_skill(self, skill: Skill) -> Sequence[Remembered]:
        """All remembered environments of a skill, in a fixed order."""
        ...

    def environment(self, env_id: str) -> Environment:
        """A remembered environment as a whole."""
        ...


def lessons_for(memory: Recollection, slot: Slot, settings: MemorySettings) -> Lessons:
    """What earlier environments of the slot's skill have to say; a function of the memory and the slot alone."""
    known = memory.of_skill(slot.skill)
    examples = good_examples(known, settings.examples, rng_for(slot.seed, "examples"))
    return Lessons(
        examples=tuple(Example(memory.environment(r.env_id), r.win_rate or 0.0, r.regret) for r in examples),
        mastered=_summaries([r for r in known if r.win_rate is not None and r.win_rate > MASTERED]),
        out_of_reach=_summaries([r for r in known if r.win_rate is not None and r.win_rate < OUT_OF_REACH]),
    )


def good_examples(known: Sequence[Remembered], count: int, rng: Random) -> tuple[Remembered, ...]:
    """Up to `count` different environments with a win rate in `EXAMPLE_BAND`, drawn by `replay_weights`."""
    low, high = EXAMPLE_BAND
    left = [r for r in known if r.win_rate is not None and low <= r.win_rate <= high]
    drawn: list[Remembered] = []
    while left and len(drawn) < count:
        weights = replay_weights([r.regret for r in left], [r.order for r in left])
        drawn.append(left.pop(rng.choices(range(len(left)), weights)[0]))
    return tuple(drawn)


def replay_weights(
    regrets: Sequence[float | None],
    orders: Sequence[int],
    staleness: float = STALENESS,
    temperature: float = TEMPERATURE,
) -> list[float]:
    """Probabilities of prioritised level replay: (1 - c) * score part + c * staleness part, summing to 1.

    The score part is proportional to (1 / rank)^(1 / T), rank 1 for the highest regret, an unmeasured regret last; the
    staleness part to how many were scored later (arXiv 2010.03934, section 3).
    """
    by_regret = sorted(range(len(regrets)), key=lambda i: (regrets[i] is None, -(regrets[i] or 0.0), i))
    by_score = [0.0] * len(regrets)
    for rank, i in enumerate(by_regret, start=1):
        by_score[i] = (1.0 / rank) ** (1.0 / temperature)
    ascending = sorted(orders)
    by_age = [len(orders) - bisect_right(ascending, order) for order in orders]
    total, ages = sum(by_score), sum(by_age)
    stale = staleness if ages else 0.0
    return [
        (1.0 - stale) * s / total + (stale * a / ages if ages else 0.0) for s, a in zip(by_score, by_age, strict=True)
    ]


def _summaries(known: Sequence[Remembered], count: int = SUMMARIES) -> tuple[Summary, ...]:
    """The latest `count`, one per title and mechanic, newest first."""
    newest = sorted(known, key=lambda r: r.order, reverse=True)
    distinct = {(r.title, r.mechanic): r for r in reversed(newest)}
    kept = sorted(distinct.values(), key=lambda r: r.order, reverse=True)[:count]
    return tuple(Summary(r.title, r.mechanic, r.win_rate or 0.0) for r in kept)
