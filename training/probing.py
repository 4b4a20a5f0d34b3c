"""Whether an engine serves the weights that were trained: the same tokens must have the same log-probabilities."""

from collections.abc import Callable, Sequence

from spade.errors import Abort
from training.learner import Learner
from training.samples import Sample

TOLERANCE = 2e-3
"""Nats. fp32 on one machine differs by 1e-5; other kernels or bf16 differ by more and want a tolerance of their own."""

Serve = Callable[[str, Sequence[int], Sequence[int], Sequence[Sequence[int]], float], list[float]]


def probe(learner: Learner, serve: Serve, samples: Sequence[Sample], tolerance: float = TOLERANCE) -> float:
    """The largest gap, in nats, between trained and served log-probabilities over a few samples.

    `serve(part, ids, at, allowed, temperature)` asks the engine. Raises `Abort` when the gap is above `tolerance`. With
    averaged weights what plays is not what is trained, and the probe is told nothing: it then answers 0.
    """
    if learner.settings.average or not samples:
        return 0.0
    gap = 0.0
    for sample, trained in zip(samples, learner.score(samples), strict=True):
        part = learner.policy.part(sample.role)
        served = serve(part, sample.ids, sample.at, sample.allowed, sample.temperature)
        gap = max([gap, *(abs(a - b) for a, b in zip(trained, served, strict=True))])
    if not gap <= tolerance:
        raise Abort(
            f"The engine does not serve the trained weights: log-probabilities differ by {gap:.3f} nats.",
            "Reload the weights; a cached prefix or another dtype would show like this too.",
        )
    return gap
