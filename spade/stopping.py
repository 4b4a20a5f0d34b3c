"""May an arm stop before all its plays are played? Only when its win rate is known well enough, never below a floor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

T = TypeVar("T")
Z = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """`floor`: measured plays that an arm has at least; `step`: plays between two looks; `half_width`: of the 95 %
    interval of the win rate at which it is known well enough."""

    floor: int
    step: int
    half_width: float


def half_width(wins: int, plays: int) -> float:
    """Half the length of the 95 % Wilson interval of a win rate: 0.5 without plays, narrow soonest near 0 and 1."""
    if not plays:
        return 0.5
    rate = wins / plays
    return Z * sqrt(rate * (1 - rate) / plays + Z * Z / (4 * plays * plays)) / (1 + Z * Z / plays)


def enough(won: Sequence[bool | None], rule: Stopping) -> bool:
    """Whether these plays of an arm settle its win rate; None is a play that was not measured."""
    measured = [w for w in won if w is not None]
    return len(measured) >= rule.floor and half_width(sum(measured), len(measured)) <= rule.half_width


def waves(items: Sequence[T], rule: Stopping | None) -> Iterator[Sequence[T]]:
    """The parts of `items` after each of which is looked: `floor` first, then `step` at a time; all at once without a
    rule."""
    if rule is None:
        yield items
        return
    yield items[: rule.floor]
    for start in range(rule.floor, len(items), rule.step):
        yield items[start : start + rule.step]
