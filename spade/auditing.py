"""The hinted arm costs as much as it plays: measured on a sample, switched on for all while hints pay."""

import math
from collections.abc import Sequence
from statistics import fmean

from spade.identity import rng_for


def hinted_environments(
    env_ids: Sequence[str], *, threshold: float | None, share: float, regrets: Sequence[float], seed: int, cycle: int
) -> frozenset[str]:
    """Which environments of a cycle get a hinted arm.

    All of them without a `threshold`, or while the mean of `regrets` (the last cycle's measured ones, signed) is above
    it; else an audited `share`, at least one, drawn by seed and cycle.
    """
    if threshold is None or (regrets and fmean(regrets) > threshold):
        return frozenset(env_ids)
    count = math.ceil(share * len(env_ids)) if share > 0 else 0
    return frozenset(rng_for(seed, "audit", cycle).sample(sorted(env_ids), count))
