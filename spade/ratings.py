"""How strong agents are and how hard environments: one scale for both, with uncertainty (docs/method.md).

A measured plain play is a match: a win of the agent is a win over the environment, anything else a loss. Ratings follow
Weng and Lin, "A Bayesian approximation method for online ranking", JMLR 12 (2011), Bradley-Terry with full pairs, by
the package openskill.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from math import exp, sqrt
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openskill.models import BradleyTerryFull

ZONE = (0.3, 0.7)
"""Predicted win probabilities, ends included, at which a play teaches most."""
HARD_SHARE = 0.1
"""The share of a draw that goes to environments below the zone, so that a loop cannot settle in its comfort zone."""
MEAN, SPREAD = 25.0, 25.0 / 3
"""Of somebody nobody has seen play."""


@dataclass(frozen=True, slots=True)
class Match:
    """One measured play: who played what, and whether the agent won."""

    agent: str
    env_id: str
    won: bool


@dataclass(frozen=True, slots=True)
class Rating:
    """Strength: `mean`, and its standard deviation `spread`. `plays`: how many it is drawn from."""

    mean: float = MEAN
    spread: float = SPREAD
    plays: int = 0


class Side(StrEnum):
    """Whose rating it is."""

    AGENT = "agent"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class StoredRating:
    """A rating as it stood after a cycle; of one that did not play in it there is none. `sequence` grows from cycle to
    cycle in the order they were rated in."""

    cycle_id: str
    side: Side
    subject_id: str
    mean: float
    spread: float
    plays: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings after some matches. Who was never seen has the prior's."""

    agents: Mapping[str, Rating] = field(default_factory=dict)
    environments: Mapping[str, Rating] = field(default_factory=dict)

    def predicted(self, agent: str, env_id: str) -> float:
        """The probability that the agent wins: logistic in the difference of means over the root of all variances (the
        model's own likelihood; openskill's `predict_win` is a normal one and off by half at the ends)."""
        player = self.agents.get(agent, Rating())
        environment = self.environments.get(env_id, Rating())
        scale = sqrt(player.spread**2 + environment.spread**2 + 2 * _model().beta ** 2)
        return 1 / (1 + exp((environment.mean - player.mean) / scale))


def rated(matches: Iterable[Match], before: Ratings | None = None) -> Ratings:
    """Ratings after the matches, in their order: later ones weigh a little more, as the agent learns. `before`: what
    was known ahead of them."""
    model = _model()
    agents = dict(before.agents) if before else {}
    environments = dict(before.environments) if before else {}
    for match in matches:
        player, environment = agents.get(match.agent, Rating()), environments.get(match.env_id, Rating())
        sides = [[model.create_rating([side.mean, side.spread])] for side in (player, environment)]
        [[one], [other]] = model.rate(sides, ranks=[1, 2] if match.won else [2, 1])
        agents[match.agent] = Rating(one.mu, one.sigma, player.plays + 1)
        environments[match.env_id] = Rating(other.mu, other.sigma, environment.plays + 1)
    return Ratings(agents, environments)


def draw_in_zone(
    env_ids: Sequence[str], predicted: Mapping[str, float], count: int, rng: Random, *, hard_share: float = HARD_SHARE
) -> tuple[str, ...]:
    """Up to `count` different environments to play or to train on: those in the zone first, then the nearest to it; of
    them `hard_share` (rounded up, as far as there are any) from below the zone, the least hopeless first."""
    shuffled = rng.sample(list(env_ids), len(env_ids))
    low, high = ZONE
    hard = sorted((e for e in shuffled if predicted[e] < low), key=lambda e: -predicted[e])
    kept = hard[: min(len(hard), -int(-count * hard_share // 1))] if count else []
    chosen = set(kept)
    rest = sorted(
        (e for e in shuffled if e not in chosen), key=lambda e: max(low - predicted[e], predicted[e] - high, 0.0)
    )
    return (*kept, *rest)[:count]


@cache
def _model() -> "BradleyTerryFull":
    from openskill.models import BradleyTerryFull

    return BradleyTerryFull(mu=MEAN, sigma=SPREAD)
