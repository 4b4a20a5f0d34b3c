"""Designer rewards without flat zeros: smooth in the win rate, on win rates shrunken towards what is already known.

A few plays say little of a win rate, and a reward that is 0 below 0.15 and above 0.85 says nothing of the way out.
Options of the factory's own (docs/learning.md); the stored score's reward stays the default.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spade.training_settings import FrontierSettings

DECAY = 0.7
"""What a cycle's counts still weigh one cycle later."""
UNINFORMED = (1.0, 2.0)
"""Wins and plays that every kind starts with: an even win rate, held loosely."""
FAST, SLOW = 0.98, 0.85
"""Weights of the new value in the two moving means of `learning_potential` (arXiv 2608.19197)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One environment of a finished cycle. `kind`: what its win rate is compared with, such as skill and mechanic.

    `reward`: the stored score's own; None where nothing was measured.
    """

    kind: str
    wins: float
    plays: int
    mean_return: float
    reward: float | None


@dataclass(frozen=True, slots=True)
class Trackers:
    """What earlier cycles said of each kind: decayed wins and plays, and the slow moving mean of returns."""

    counts: dict[str, tuple[float, float]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)


def tent(win_rate: float) -> float:
    """1 - |w - 0.5| / 0.5: 1 at an even win rate, 0 at the ends, a slope everywhere."""
    return 1.0 - abs(win_rate - 0.5) / 0.5


def variance(win_rate: float) -> float:
    """4 w (1 - w): the variance of a win, scaled to 1 at an even win rate."""
    return 4.0 * win_rate * (1.0 - win_rate)


def posterior_mean(wins: float, plays: float, prior: float, pseudo_plays: float) -> float:
    """The win rate after `plays`, held by `pseudo_plays` at `prior`."""
    return (wins + pseudo_plays * prior) / (plays + pseudo_plays)


def frontier_rewards(
    measured: Sequence[Measured], settings: FrontierSettings, trackers: Trackers
) -> tuple[list[float | None], Trackers]:
    """The reward of each environment, and the trackers after this cycle. None where nothing was measured."""
    slow = _moved(measured, trackers.slow)
    rewards: list[float | None] = []
    for each in measured:
        if each.reward is None or not each.plays or settings.reward == "score":
            rewards.append(each.reward)
        elif settings.reward == "learning_potential":
            rewards.append(abs(each.mean_return - slow[each.kind]))
        else:
            rate = _rate(each, measured, settings.shrinkage, trackers)
            rewards.append(tent(rate) if settings.reward == "tent" else variance(rate))
    return rewards, Trackers(_counted(measured, trackers.counts), slow)


def _rate(each: Measured, measured: Sequence[Measured], pseudo_plays: float, trackers: Trackers) -> float:
    """The win rate shrunken to that of its kind: earlier cycles, and the others of this one."""
    if not pseudo_plays:
        return each.wins / each.plays
    others = [m for m in measured if m.kind == each.kind and m is not each]
    wins, plays = trackers.counts.get(each.kind, (0.0, 0.0))
    wins += sum(m.wins for m in others) + UNINFORMED[0]
    plays += sum(m.plays for m in others) + UNINFORMED[1]
    return posterior_mean(each.wins, each.plays, wins / plays, pseudo_plays)


def _counted(measured: Sequence[Measured], counts: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    found = {kind: (DECAY * wins, DECAY * plays) for kind, (wins, plays) in counts.items()}
    for each in measured:
        wins, plays = found.get(each.kind, (0.0, 0.0))
        found[each.kind] = (wins + DECAY * each.wins, plays + DECAY * each.plays)
    return found


def _moved(measured: Sequence[Measured], slow: dict[str, float]) -> dict[str, float]:
    moved = dict(slow)
    for kind in {m.kind for m in measured}:
        mean = fmean(m.mean_return for m in measured if m.kind == kind)
        moved[kind] = SLOW * mean + (1 - SLOW) * slow[kind] if kind in slow else mean
    return moved
