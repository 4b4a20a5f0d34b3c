"""What a sample was better or worse than: per-role advantages (docs/method.md, "Learning")."""

import math
from collections.abc import Sequence
from statistics import fmean

EPSILON = 1e-8
MAX_SCALE = 50.0
"""The designer's few samples never weigh more than this each (arXiv 2608.19197)."""


def agent_advantages(returns: Sequence[float]) -> list[float] | None:
    """(return - mean) / (std + 1e-8) within one group, population std. None when all returns are equal: no gradient."""
    mean = fmean(returns)
    spread = math.sqrt(fmean([(value - mean) ** 2 for value in returns]))
    if spread < EPSILON:
        return None
    return [(value - mean) / (spread + EPSILON) for value in returns]


def designer_scale(agent_samples: int, designer_samples: int, rounds: int) -> float:
    """min(50, agent samples a round / designer samples * rounds), so that both roles weigh about the same."""
    if designer_samples < 1:
        return 0.0
    return min(MAX_SCALE, agent_samples / designer_samples * rounds)


def designer_advantages(rewards: Sequence[float], scale: float) -> list[float]:
    """(reward - mean of the group) * scale, no division by a spread."""
    mean = fmean(rewards)
    return [(reward - mean) * scale for reward in rewards]
