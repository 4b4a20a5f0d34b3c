"""What one update did, per role: the figures that tell a healthy update from a sick one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from training.losses import Facts


@dataclass(frozen=True, slots=True)
class RoleFigures:
    """Means are over tokens. `ess`: effective sample size of the importance weights, (sum w)^2 / (n sum w^2).
    `truncated`: share of weights above the cap. `kl`: low-variance estimate of how far the policy is from the one that
    played. `entropy` in nats per token. `grad_norm`: mean over steps, before clipping. `exploded`: samples left out for
    a ratio beyond the limit."""

    samples: int = 0
    tokens: int = 0
    steps: int = 0
    loss: float = 0.0
    ratio: float = 1.0
    ratio_max: float = 1.0
    clipped: float = 0.0
    ess: float = 1.0
    truncated: float = 0.0
    kl: float = 0.0
    entropy: float = 0.0
    entropy_weight: float = 0.0
    grad_norm: float = 0.0
    advantage_spread: float = 0.0
    exploded: int = 0


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """One update: its batch, what it did to each role, its cost. `places`: tokens computed, padding included."""

    update: int
    batch_id: str
    roles: dict[str, RoleFigures]
    places: int = 0
    seconds: float = 0.0
    learning_rate: float = 0.0

    def json(self) -> dict[str, Any]:
        return asdict(self)


def _zeros() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass
class Tally:
    """Sums over the micro-batches of one role."""

    sums: defaultdict[str, float] = field(default_factory=_zeros)
    ratio_max: float = 0.0
    grad_norms: list[float] = field(default_factory=list)
    subjects: set[str] = field(default_factory=set)
    exploded: set[str] = field(default_factory=set)

    def add(self, losses: Tensor, facts: Facts, entropies: Tensor, advantages: Tensor) -> None:
        if not losses.numel():
            return
        with torch.no_grad():
            totals = {
                "tokens": float(losses.numel()),
                "loss": losses.sum().item(),
                "ratio": facts.ratio.sum().item(),
                "clipped": facts.clipped.sum().item(),
                "weight": facts.weight.double().sum().item(),
                "weight2": facts.weight.double().square().sum().item(),
                "truncated": facts.truncated.sum().item(),
                "kl": facts.kl.sum().item(),
                "entropy": entropies.sum().item(),
                "advantage": advantages.sum().item(),
                "advantage2": advantages.square().sum().item(),
            }
            self.ratio_max = max(self.ratio_max, facts.ratio.max().item())
        for name, value in totals.items():
            self.sums[name] += value

    @property
    def entropy(self) -> float:
        return self.sums["entropy"] / max(1.0, self.sums["tokens"])

    def figures(self, steps: int, entropy_weight: float) -> RoleFigures:
        tokens = max(1.0, self.sums["tokens"])
        mean = {name: value / tokens for name, value in self.sums.items()}
        squares = tokens * self.sums["weight2"]
        return RoleFigures(
            samples=len(self.subjects),
            tokens=int(self.sums["tokens"]),
            steps=steps,
            loss=mean.get("loss", 0.0),
            ratio=mean.get("ratio", 1.0),
            ratio_max=self.ratio_max,
            clipped=mean.get("clipped", 0.0),
            ess=self.sums["weight"] ** 2 / squares if squares else 1.0,
            truncated=mean.get("truncated", 0.0),
            kl=mean.get("kl", 0.0),
            entropy=mean.get("entropy", 0.0),
            entropy_weight=entropy_weight,
            grad_norm=sum(self.grad_norms) / len(self.grad_norms) if self.grad_norms else 0.0,
            advantage_spread=max(0.0, mean.get("advantage2", 0.0) - mean.get("advantage", 0.0) ** 2) ** 0.5,
            exploded=len(self.exploded),
        )


def merged(tallies: Sequence[Tally]) -> Tally:
    """What several processes counted of their shares, as one; all made the same steps."""
    first, *others = tallies
    for other in others:
        for name, value in other.sums.items():
            first.sums[name] += value
        first.ratio_max = max(first.ratio_max, other.ratio_max)
        first.subjects |= other.subjects
        first.exploded |= other.exploded
    return first
