"""Log-probabilities under the weights that training began with: what the KL pulls back to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from training.samples import Sample

if TYPE_CHECKING:
    from training.learner import Learner


def first_scores(learner: "Learner", part: str, samples: Sequence[Sample]) -> list[Tensor]:
    """One tensor a sample. With adapters the first weights are the base model; otherwise a copy is kept."""
    model = learner.policy.parts[part].model
    if learner.policy.adapters:
        with model.disable_adapter():
            return learner.scores(part, samples)
    if learner.first is None:
        raise ValueError("the first weights were not kept: call keep_first before training with a KL")
    trained = learner.policy.trained(part)
    now = {name: p.detach().clone() for name, p in trained.items()}
    try:
        _put(trained, {name: learner.first[f"{part}:{name}"] for name in trained})
        return learner.scores(part, samples)
    finally:
        _put(trained, now)


def keep_first(learner: "Learner") -> None:
    """Keep a copy of the present weights as the first ones, where a KL will need them."""
    if learner.policy.adapters:
        return
    learner.first = {
        f"{part}:{name}": p.detach().clone()
        for part in learner.policy.parts
        if learner.role(part).kl
        for name, p in learner.policy.trained(part).items()
    }


def _put(trained: dict[str, torch.nn.Parameter], values: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in trained.items():
            parameter.copy_(values[name])
