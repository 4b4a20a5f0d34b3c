"""One token out of logits: the draw, and the log-probability of exactly the distribution it was drawn from."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spade.messages import Sampling

Floats = NDArray[np.float64]


def draw(logits: Floats, allowed: Sequence[int] | None, sampling: Sampling, uniform: float) -> tuple[int, float]:
    """The token at `uniform` (in [0, 1)) of the cumulated distribution, and its natural log-probability.

    Temperature 0 takes the likeliest token and gives the model's own log-probability, as servers do.
    """
    ids = np.asarray(allowed, dtype=np.int64) if allowed is not None else None
    values = logits if ids is None else logits[ids]
    if sampling.temperature <= 0.0:
        place = int(values.argmax())
        return (place if ids is None else int(ids[place])), float(values[place] - _log_sum(values))
    logs = values / sampling.temperature
    logs = _cut(logs - _log_sum(logs), sampling)
    cumulated = np.exp(logs).cumsum()
    place = int(np.searchsorted(cumulated, uniform * cumulated[-1], side="right"))
    place = min(place, len(cumulated) - 1)
    while not math.isfinite(logs[place]):
        place -= 1
    return (place if ids is None else int(ids[place])), min(0.0, float(logs[place]))


def _cut(logs: Floats, sampling: Sampling) -> Floats:
    """Top-k, then top-p, then normalised again; whatever is cut is at minus infinity."""
    if not sampling.top_k and sampling.top_p >= 1.0:
        return logs
    order = np.argsort(-logs, kind="stable")
    keep = len(order) if not sampling.top_k else min(sampling.top_k, len(order))
    if sampling.top_p < 1.0:
        mass = np.exp(logs[order[:keep]])
        keep = int(np.searchsorted((mass / mass.sum()).cumsum(), sampling.top_p)) + 1
    kept = np.full_like(logs, -np.inf)
    kept[order[:keep]] = logs[order[:keep]]
    return kept - _log_sum(kept)


def _log_sum(values: Floats) -> float:
    most = float(values.max())
    return most + math.log(float(np.exp(values - most).sum()))
