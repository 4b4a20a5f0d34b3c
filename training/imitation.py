"""A warm start: make what curated plays said more likely, token by token (SFT on stored ids)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch

from spade.episodes import Episode
from spade.errors import Abort
from spade.identity import rng_for
from spade.messages import Role, Sampling, Tokens
from training.learner import Learner
from training.packing import pack
from training.rows import rows_of
from training.samples import Fault, Limits, Origin, Sample, samples_of

SIZE = 32
"""Samples of one step."""


def positives(episodes: Iterable[Episode], sampling: Sampling, limits: Limits) -> tuple[list[Sample], int]:
    """Won plays as samples of weight 1, and how many could not be used. Token ids are enough here: where there are no
    log-probabilities zeros stand in, which nothing reads."""
    made: list[Sample] = []
    unusable = 0
    for episode in episodes:
        origin = Origin(Role.AGENT, "positives", episode.episode_id, episode.weights, episode.asked.env_id)
        samples = samples_of(origin, [(_with_zeros(t.tokens), False) for t in episode.turns], sampling, limits)
        if isinstance(samples, Fault):
            unusable += 1
        else:
            made += [replace(s, advantage=1.0, allowed=((),) * s.tokens, temperature=1.0) for s in samples if s.at]
    return made, unusable


def _with_zeros(tokens: Tokens | None) -> Tokens | None:
    if tokens is None or tokens.output_ids is None:
        return tokens
    return replace(tokens, logprobs=(0.0,) * len(tokens.output_ids), logprobs_of="", allowed=None)


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
