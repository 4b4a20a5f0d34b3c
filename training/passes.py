"""One part's way through a batch: epochs, minibatches, micro-batches, and the checks before each optimiser step."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spade.errors import Abort
from spade.identity import rng_for
from spade.messages import Role
from training.diagnostics import Tally
from training.losses import Tokens, token_losses
from training.packing import pack
from training.policy import AGENT, DESIGNER
from training.reference import first_scores
from training.rows import Rows, rows_of
from training.samples import Sample
from training.spread import whole

if TYPE_CHECKING:
    from training.learner import Learner

MOST_EXPLODED = 0.5
"""When more samples than this explode, the weights are not those that played, and the update is refused."""


def part_of(role: Role) -> str:
    """The name under which a role's settings and figures stand."""
    return DESIGNER if role is Role.DESIGNER else AGENT


@dataclass(eq=False)
class Pass:
    """One part's way through a batch: epochs, minibatches, micro-batches."""

    learner: "Learner"
    part: str
    samples: list[Sample]
    tallies: dict[Role, Tally]
    steps: int = 0

    def train(self) -> int:
        """Tokens computed, padding included."""
        learner, role, places = self.learner, self.learner.role(self.part), 0
        near = self._near()
        first = self._first()
        for tally, name in ((self.tallies[r], r) for r in self.tallies):
            tally.subjects |= {s.subject_id for s in self.samples if s.role is name}
        for epoch in range(role.epochs):
            order = list(range(len(self.samples)))
            rng_for(learner.seed, "update", learner.updates, self.part, epoch).shuffle(order)
            for numbers in _split(order, role.steps(len(order))):
                places += self._step(numbers, near, first)
        return places

    def _step(self, numbers: list[int], near: dict[int, Tensor], first: list[Tensor] | None) -> int:
        learner = self.learner
        chosen = [self.samples[n] for n in numbers]
        total = sum(s.tokens for s in chosen)
        optimiser, places = learner.optimisers[self.part], 0
        scorer = learner.policy.use(self.part)
        optimiser.zero_grad(set_to_none=True)
        for micro, factor in learner.spread.share(pack([len(s.ids) for s in chosen], learner.settings.micro_tokens)):
            rows = rows_of(micro, chosen, learner.device)
            places += micro.places
            with learner.precision():
                scored = scorer(rows, self._entropy_gradient())
            tokens = Tokens(
                current=scored.logprobs,
                behaviour=rows.logprobs,
                near=_laid_out(rows, numbers, near, rows.logprobs),
                advantages=rows.advantages,
                entropies=scored.entropies,
                first=_laid_out(rows, numbers, dict(enumerate(first)), rows.logprobs) if first else None,
            )
            self._backward(tokens, rows, chosen, total, factor)
        norm = whole(
            torch.nn.utils.clip_grad_norm_(
                list(learner.policy.trained(self.part).values()), learner.role(self.part).max_grad_norm
            )
        )
        if not torch.isfinite(norm):
            optimiser.zero_grad(set_to_none=True)
            raise not_finite("gradient", learner.updates)
        for group in optimiser.param_groups:
            group["lr"] = learner.rate(self.part)
        optimiser.step()
        self.steps += 1
        for role in {s.role for s in chosen}:
            self.tallies[role].grad_norms.append(float(norm))
        return places

    def _backward(self, tokens: Tokens, rows: Rows, chosen: Sequence[Sample], total: int, factor: float) -> None:
        """Add the gradient of one micro-batch's loss times `factor`; with a factor of 0 nothing is counted."""
        learner, settings = self.learner, self.learner.settings
        kept = self._not_exploded(tokens, rows, chosen)
        designer = torch.tensor([s.role is Role.DESIGNER for s in chosen], device=rows.owners.device)[rows.owners]
        loss = torch.zeros((), device=rows.owners.device)
        for role, mask in ((Role.AGENT, ~designer), (Role.DESIGNER, designer)):
            mask = mask & kept
            if not factor or not bool(mask.any()):
                continue
            part = _only(tokens, mask)
            losses, facts = token_losses(
                part, learner.role(self.part), settings.importance_cap, learner.entropy_weights[part_of(role)]
            )
            self.tallies[role].add(losses.detach(), facts, part.entropies.detach(), part.advantages)
            loss = loss + factor * losses.sum() / total
        if learner.spread.any(not bool(torch.isfinite(loss)), learner.device):
            learner.optimisers[self.part].zero_grad(set_to_none=True)
            raise not_finite("loss", learner.updates)
        if learner.spread.world > 1:  # every process takes part in fetching weights, whatever is left of its samples
            loss = loss + 0.0 * tokens.current.nan_to_num(0.0, 0.0, 0.0).sum()
        if loss.requires_grad:
            loss.backward()

    def _not_exploded(self, tokens: Tokens, rows: Rows, chosen: Sequence[Sample]) -> Tensor:
        """[N]: true for tokens of samples all of whose ratios against the behaviour policy are within the limit."""
        drift = (torch.maximum(tokens.current.detach(), tokens.near) - tokens.behaviour).nan_to_num(0.0)
        limit = math.log(self.learner.settings.ratio_limit)
        bad = rows.owners[drift > limit].unique()
        for owner in bad.tolist():
            self.tallies[chosen[owner].role].exploded.add(chosen[owner].subject_id)
        exploded = sum(len(tally.exploded) for tally in self.tallies.values())
        spread = self.learner.spread
        many = exploded * spread.world > MOST_EXPLODED * len({s.subject_id for s in self.samples})
        if spread.any(many, self.learner.device):
            self.learner.optimisers[self.part].zero_grad(set_to_none=True)
            raise Abort(
                f"{exploded} samples have a token ratio above training.ratio_limit: exploding ratio.",
                "The batch was not played by these weights, this tokenizer or this temperature.",
            )
        return ~torch.isin(rows.owners, bad)

    def _near(self) -> dict[int, Tensor]:
        """The policy at the start of the update, for samples that are late; others are compared with their own."""
        late = [n for n, s in enumerate(self.samples) if s.late]
        scores = self.learner.scores(self.part, [self.samples[n] for n in late])
        return dict(zip(late, scores, strict=True))

    def _first(self) -> list[Tensor] | None:
        """Under the first weights, when a KL to them is asked for."""
        return first_scores(self.learner, self.part, self.samples) if self.learner.role(self.part).kl else None

    def _entropy_gradient(self) -> bool:
        return any(self.learner.entropy_weights[part_of(s)] for s in {x.role for x in self.samples})


def _laid_out(rows: Rows, numbers: list[int], values: dict[int, Tensor], default: Tensor) -> Tensor:
    """[N] values by sample in the order of the rows; `default` where a sample has none."""
    out = default.clone()
    for local in rows.owners.unique().tolist():
        if numbers[local] in values:
            out[rows.owners == local] = values[numbers[local]].to(out)
    return out


def _only(tokens: Tokens, mask: Tensor) -> Tokens:
    return Tokens(
        current=tokens.current[mask],
        behaviour=tokens.behaviour[mask],
        near=tokens.near[mask],
        advantages=tokens.advantages[mask],
        entropies=tokens.entropies[mask],
        first=None if tokens.first is None else tokens.first[mask],
    )


def _split(order: list[int], parts: int) -> Iterator[list[int]]:
    """Nearly equal runs; fewer than asked for where there are not enough."""
    parts = min(parts, len(order))
    for part in range(parts):
        yield order[part * len(order) // parts : (part + 1) * len(order) // parts]


def not_finite(what: str, updates: int) -> Abort:
    """What stops an update before its optimiser step."""
    return Abort(
        f"The {what} of update {updates + 1} is not a number; nothing was stepped.",
        "Go on from the last checkpoint with a lower learning rate, or look for a broken batch.",
    )
