"""What an environment is worth, from the returns of its two arms (docs/method.md).

Means, win rates and regret are over measured episodes only and always stand beside how many were asked and measured;
what could not be measured is None with a reason, never 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from spade.episodes import Arm, Episode
from spade.identity import seed_for

PLATEAU = (0.4, 0.6)
"""Win rates that are worth the full plateau reward."""
PLATEAU_SLOPE = 0.25
"""Over this distance on each side the plateau falls to 0."""
FULL_REGRET = 0.15
"""Regret that earns the whole regret term of `blend`."""
BLEND_WEIGHTS = (0.6, 0.4)
"""Weights of plateau and regret in `blend`."""
HANG_PENALTY = -0.5
"""Designer reward of an environment that hangs, in every variant."""
MIN_MEASURED_SHARE = 0.5
"""An environment with a smaller share of its episodes measured gets no score."""
BOOTSTRAP_DRAWS = 2000
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval, ends included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmScore:
    """One arm of one environment. `win_rate` and `mean_return` are None when nothing was measured."""

    asked: int
    measured: int
    wins: int
    win_rate: float | None
    mean_return: float | None


@dataclass(frozen=True, slots=True)
class Score:
    """The score of an environment over a cycle. `reason` says why a number is missing, empty when none is."""

    cycle_id: str
    env_id: str
    plain: ArmScore
    hinted: ArmScore
    variant: str
    regret: float | None = None
    regret_interval: Interval | None = None
    regret_pairs: int = 0
    plateau: float | None = None
    designer_reward: float | None = None
    reason: str = ""


def plateau(win_rate: float) -> float:
    """1 on [0.4, 0.6], falling linearly to 0 over 0.25 on each side: 0 at 0.15 and 0.85, 0.6 at 0.3 and 0.7."""
    low, high = PLATEAU
    away = max(low - win_rate, win_rate - high, 0.0)
    return max(0.0, 1.0 - away / PLATEAU_SLOPE)


def blend(win_rate: float, regret: float | None) -> float:
    """Plateau and clipped regret, weighted. Without a measured regret the plateau term stands alone (0 to 0.6)."""
    share, rest = BLEND_WEIGHTS
    paid = 0.0 if regret is None else min(max(regret / FULL_REGRET, 0.0), 1.0)
    return share * plateau(win_rate) + rest * paid


def arm_score(episodes: Sequence[Episode]) -> ArmScore:
    """Counts and means of one arm over all its rounds."""
    returns = [e.return_ for e in episodes if e.return_ is not None]
    wins = sum(bool(e.won) for e in episodes)
    measured = len(returns)
    return ArmScore(
        asked=len(episodes),
        measured=measured,
        wins=wins,
        win_rate=wins / measured if measured else None,
        mean_return=fmean(returns) if measured else None,
    )


def paired_returns(episodes: Sequence[Episode]) -> list[tuple[float, float]]:
    """(plain, hinted) returns of the first round, one pair a seed that was measured in both arms, in seed order."""
    by_arm: dict[Arm, dict[tuple[int, int], float]] = {Arm.PLAIN: {}, Arm.HINTED: {}}
    for episode in episodes:
        if episode.asked.round == 0 and episode.return_ is not None:
            by_arm[episode.asked.arm][(episode.asked.play, episode.asked.seed)] = episode.return_
    plain, hinted = by_arm[Arm.PLAIN], by_arm[Arm.HINTED]
    return [(plain[key], hinted[key]) for key in sorted(plain.keys() & hinted.keys())]


def bootstrap(differences: Sequence[float], seed: int) -> Interval:
    """95 % percentile interval of the mean difference, resampling seed pairs with replacement."""
    values = np.asarray(differences, dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(values), size=(BOOTSTRAP_DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.025, 0.975))
    return Interval(float(low), float(high))


def score(cycle_id: str, env_id: str, episodes: Sequence[Episode], variant: str = "blend") -> Score:
    """Score one environment from all its episodes of one cycle."""
    plain = arm_score([e for e in episodes if e.asked.arm is Arm.PLAIN])
    hinted = arm_score([e for e in episodes if e.asked.arm is Arm.HINTED])
    pairs = paired_returns(episodes)
    differences = [h - p for p, h in pairs]
    regret = fmean(differences) if differences else None
    interval = bootstrap(differences, seed_for(0, env_id, "regret")) if len(differences) > 1 else None
    enough = plain.asked > 0 and plain.measured >= MIN_MEASURED_SHARE * plain.asked - _EPSILON
    hung = any(e.outcome.value == "env_timeout" for e in episodes)
    if not enough or plain.win_rate is None:
        regret, interval = None, None
    return Score(
        cycle_id=cycle_id,
        env_id=env_id,
        plain=plain,
        hinted=hinted,
        variant=variant,
        regret=regret,
        regret_interval=interval,
        regret_pairs=len(pairs),
        plateau=plateau(plain.win_rate) if enough and plain.win_rate is not None else None,
        designer_reward=_designer_reward(variant, plain.win_rate if enough else None, regret, hung=hung),
        reason=_reason(plain, hinted, enough=enough, pairs=len(pairs)),
    )


def _designer_reward(variant: str, win_rate: float | None, regret: float | None, *, hung: bool) -> float | None:
    if hung:
        return HANG_PENALTY
    if win_rate is None:
        return None
    match variant:
        case "blend":
            return blend(win_rate, regret)
        case "solve_rate":
            return plateau(win_rate)
        case "regret":
            return None if regret is None else max(0.0, regret)
        case "signed_regret":
            return regret
    raise ValueError(f"unknown designer reward {variant!r}: blend, solve_rate, regret or signed_regret")


def _reason(plain: ArmScore, hinted: ArmScore, *, enough: bool, pairs: int) -> str:
    if not enough:
        return f"only {plain.measured} of {plain.asked} plain plays were measured"
    if not hinted.asked:
        return "no hinted arm: no hint passed its gates"
    if not pairs:
        return "no seed was measured in both arms"
    return ""
