"""Which remembered environments are played again: some at the frontier, some mastered long ago, lest they be forgotten.

Returned in-band environments keep the agent where it learns; stale mastered ones are checked again, and one that was
forgotten is back in the band by its own new score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from spade.frontier import tent

IN_BAND = (0.15, 0.85)
STALENESS = 0.3
"""Share of the draw of in-band environments that goes by how long ago they were played."""


@dataclass(frozen=True, slots=True)
class Known:
    """A remembered environment: its latest win rate, and the cycle it was last played in."""

    env_id: str
    win_rate: float
    played: int


def replayed(known: Sequence[Known], *, in_band: int, mastered: int, now: int, rng: Random) -> tuple[str, ...]:
    """Ids to play again in cycle `now`, each at most once: `in_band` near an even win rate, `mastered` by staleness.

    Fewer where there are not enough.
    """
    low, high = IN_BAND
    band = [k for k in known if low <= k.win_rate <= high]
    easy = [k for k in known if k.win_rate > high]
    near = [max(1e-3, tent(k.win_rate)) for k in band]
    ages = [now - k.played + 1.0 for k in band]
    weights = [(1 - STALENESS) * n / sum(near) + STALENESS * a / sum(ages) for n, a in zip(near, ages, strict=True)]
    chosen = _drawn(band, weights, in_band, rng)
    chosen += _drawn(easy, [now - k.played + 1.0 for k in easy], mastered, rng)
    return tuple(k.env_id for k in chosen)


def _drawn(known: Sequence[Known], weights: Sequence[float], count: int, rng: Random) -> list[Known]:
    """Up to `count` different ones, each draw proportional to what is left of the weights."""
    left, heavy = list(known), list(weights)
    drawn: list[Known] = []
    while left and len(drawn) < count:
        place = rng.choices(range(len(left)), heavy)[0]
        drawn.append(left.pop(place))
        heavy.pop(place)
    return drawn
