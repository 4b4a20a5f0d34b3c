"""Where a cycle stood: pass rates by tier of difficulty, ratings, how much really differed. Part of its summary."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, pstdev

from spade.environments import Environment
from spade.ratings import ZONE, Match, Rating, Ratings

REFERENCE = "reference"


class Tier(StrEnum):
    """How hard an environment is for an agent that never changes, so that curves mean the same in every cycle."""

    EASY = "easy"
    MIDDLE = "middle"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class TierRate:
    """Measured plain plays of one cycle on the environments of one tier."""

    tier: Tier
    environments: int
    plays: int
    wins: int

    @property
    def win_rate(self) -> float | None:
        return self.wins / self.plays if self.plays else None


@dataclass(frozen=True, slots=True)
class Curriculum:
    """`agent`: the weights that played last, with their rating (mean and standard deviation); None where nothing was
    measured. `difficulty` and `difficulty_spread`: mean and standard deviation of the ratings of the cycle's
    environments. `mode_share`: share of the most frequent mechanic among them. `vendi`: Vendi score over the latest
    `vendi_of` accepted environments.
    """

    agent: str = ""
    agent_rating: float | None = None
    agent_spread: float | None = None
    difficulty: float | None = None
    difficulty_spread: float | None = None
    tiers: tuple[TierRate, ...] = ()
    mode_share: float | None = None
    vendi: float | None = None
    vendi_of: int = 0

    @property
    def vendi_share(self) -> float | None:
        """1 when all differ, near 0 when all are alike."""
        return None if self.vendi is None or not self.vendi_of else self.vendi / self.vendi_of


def tier_of(ratings: Ratings, env_id: str) -> Tier:
    """The tier by which win rate is predicted for a reference agent: an unseen one whose strength is certain."""
    known = Ratings({REFERENCE: Rating(spread=0.0)}, ratings.environments)
    chance = known.predicted(REFERENCE, env_id)
    return Tier.HARD if chance < ZONE[0] else Tier.EASY if chance > ZONE[1] else Tier.MIDDLE


def tier_rates(matches: Iterable[Match], ratings: Ratings) -> tuple[TierRate, ...]:
    """One line a tier, easy first; a tier without plays stays, with zeros."""
    by_tier: dict[Tier, list[Match]] = {tier: [] for tier in Tier}
    tiers: dict[str, Tier] = {}
    for match in matches:
        if match.env_id not in tiers:
            tiers[match.env_id] = tier_of(ratings, match.env_id)
        by_tier[tiers[match.env_id]].append(match)
    return tuple(
        TierRate(tier, len({m.env_id for m in found}), len(found), sum(m.won for m in found))
        for tier, found in by_tier.items()
    )


def curriculum(
    matches: Sequence[Match],
    ratings: Ratings,
    environments: Sequence[Environment],
    *,
    vendi: float | None,
    vendi_of: int,
) -> Curriculum:
    """Of one cycle: `matches` are its measured plain plays in order, `ratings` those after them, `environments` its
    own. `vendi` and `vendi_of` are taken as they are."""
    agent = matches[-1].agent if matches else ""
    player = ratings.agents.get(agent)
    played = sorted({m.env_id for m in matches})
    means = [ratings.environments[env_id].mean for env_id in played]
    mechanics = Counter(e.mechanic for e in environments)
    return Curriculum(
        agent=agent,
        agent_rating=player.mean if player else None,
        agent_spread=player.spread if player else None,
        difficulty=fmean(means) if means else None,
        difficulty_spread=pstdev(means) if means else None,
        tiers=tier_rates(matches, ratings),
        mode_share=max(mechanics.values()) / len(environments) if environments else None,
        vendi=vendi,
        vendi_of=vendi_of,
    )
