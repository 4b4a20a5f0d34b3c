"""A warm start: make what curated plays said more likely, token by token (SFT on stored ids)."""

from collections.abc import Sequence

import torch

from spade.errors import Abort
from spade.identity import rng_for
from training.learner import Learner
from training.packing import pack
from training.rows import rows_of
from training.samples import Sample


def imitate(
    learner: Learner, part: str, samples: Sequence[Sample], *, rate: float, size: int, epochs: int = 1
) -> list[float]:
    """Gradient steps on `size` samples each with an optimiser of their own; the mean loss (nats a token) of each step.

    A sample's advantage is its weight; 0 leaves it out. Raises `Abort` before a step whose loss is not finite.
    """
    parameters = list(learner.policy.trained(part).values())
    optimiser = torch.optim.AdamW(parameters, lr=rate, betas=learner.settings.betas, weight_decay=0.0)
    orders = []
    for epoch in range(epochs):
        order = list(range(len(samples)))
        rng_for(learner.seed, "imitate", part, epoch).shuffle(order)
        orders += [order[start : start + size] for start in range(0, len(order), size)]
    losses = []
    for step, numbers in enumerate(orders):
        progress = step / max(1, len(orders))
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / (0.1 * len(orders) + 1)) * (1.0 - 0.9 * progress)
        losses.append(_step(learner, part, [samples[n] for n in numbers], optimiser))
    return losses


def _step(learner: Learner, part: str, chosen: Sequence[Sample], optimiser: torch.optim.Optimizer) -> float:
    scorer = learner.policy.use(part)
    total = sum(s.tokens * s.advantage for s in chosen)
    optimiser.zero_grad(set_to_none=True)
    summed = 0.0
    for micro in pack([len(s.ids) for s in chosen], learner.settings.micro_tokens):
        rows = rows_of(micro, chosen, learner.device)
        with learner.precision():
            loss = -(scorer(rows).logprobs * rows.advantages).sum() / total
        if not bool(torch.isfinite(loss)):
            raise Abort("The loss of the warm start is not a number; nothing was stepped.", "Lower its rate.")
        loss.backward()
        summed += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(list(learner.policy.trained(part).values()), 1.0)
    optimiser.step()
    return summed
