"""A window of difficulty that climbs by itself: levels are drawn from it, and its top rises once the top is mastered.

The rule of adaptive verifiable environments (RLVE, arXiv 2511.07317): train within a few levels, and raise the highest
of them when at least nine of ten of the latest plays there are won.
"""

from collections.abc import Iterable
from dataclasses import dataclass

PROMOTE = 0.9
"""Share of won plays at the top that raises it."""


@dataclass(frozen=True, slots=True)
class Climbing:
    """How a window climbs: it looks at the latest `last` plays at its top, and holds at most `width` levels."""

    last: int = 32
    width: int = 4
    promote: float = PROMOTE


@dataclass(frozen=True, slots=True)
class Window:
    """Levels from `low` to `high`, both within; level 0 is the easiest."""

    low: int = 0
    high: int = 0


def window_after(plays: Iterable[tuple[int, bool]], top: int, rule: Climbing) -> Window:
    """Where a window stands after `plays` (the level of each and whether it was won, oldest first), which starts at
    level 0 and never leaves `top`. After a rise plays are counted anew; plays below the top do not count."""
    high, latest = 0, list[bool]()
    for level, won in plays:
        if level != high:
            continue
        latest = [*latest, won][-rule.last :]
        if len(latest) == rule.last and sum(latest) >= rule.promote * rule.last and high < top:
            high, latest = high + 1, []
    return Window(max(0, high - rule.width + 1), high)
