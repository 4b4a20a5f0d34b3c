"""The two-role update: one batch in, moved weights and figures out. Deterministic given weights, batch and seed.

Both roles share one optimiser and one loss per step unless the designer has weights of its own; then each part has its
optimiser, rate, clip and number of steps. Losses are sums over tokens divided by all tokens of a step, so how samples
are cut into micro-batches changes nothing but memory.
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from spade.errors import Abort
from spade.messages import Role
from spade.training_settings import RoleTraining, TrainingSettings
from training.averaging import follow
from training.batches import Batch
from training.diagnostics import Tally, UpdateReport, merged
from training.packing import pack
from training.passes import Pass, part_of
from training.policy import AGENT, DESIGNER, Policy
from training.rows import rows_of
from training.samples import Sample
from training.spread import spread_now

ENTROPY_RATE = 0.5
"""How fast the entropy bonus follows its target: its logarithm moves by this times the gap in nats, per update."""
ENTROPY_BOUNDS = (0.003, 1.0)


@dataclass(eq=False)
class Learner:
    """Holds the optimisers. `updates` counts finished updates; `entropy_weights` is what the targets steer."""

    policy: Policy
    settings: TrainingSettings
    seed: int = 0
    updates: int = 0
    entropy_weights: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spread = spread_now()
        self.device = next(self.policy.parts[AGENT].parameters()).device
        self.optimisers = {part: self._optimiser(part) for part in self.policy.parts}
        for part in (AGENT, DESIGNER):
            role = self.role(part)
            self.entropy_weights.setdefault(part, role.entropy or (0.03 if role.entropy_target is not None else 0.0))
        self.first: dict[str, Tensor] | None = None
        self.averages: dict[str, dict[str, Tensor]] = {}

    def update(self, batch: Batch) -> UpdateReport:
        """Train on one batch. Raises `Abort` before the optimiser's step when a loss or gradient is not finite, when
        most samples explode, or when memory runs out; then the last good checkpoint is the one to go on from."""
        started = time.perf_counter()
        tallies: dict[Role, Tally] = {Role.AGENT: Tally(), Role.DESIGNER: Tally()}
        steps: dict[str, int] = {}
        places = 0
        with self._memory_limit():
            for part in self.policy.parts:
                samples = [s for s in batch.samples if self._part(s) == part and self._wanted(s)]
                if samples:
                    run = Pass(self, part, samples, tallies)
                    places += run.train()
                    steps[part] = run.steps
        for role, tally in tallies.items():
            tallies[role] = merged(self.spread.gathered(tally))
        self.updates += 1
        if self.settings.average:
            follow(self.averages, self.policy, self.settings.average)
        self._steer_entropy(tallies)
        figures = {
            role.value: tally.figures(steps.get(self.policy.part(role), 0), self.entropy_weights[part_of(role)])
            for role, tally in tallies.items()
            if tally.sums["tokens"]
        }
        seconds = time.perf_counter() - started
        return UpdateReport(self.updates, batch.batch_id, figures, places, seconds, self.rate(AGENT))

    def score(self, samples: Sequence[Sample]) -> list[list[float]]:
        """Log-probabilities of the trained tokens under the present weights, one list a sample."""
        found: list[list[float]] = [[] for _ in samples]
        for part in self.policy.parts:
            numbers = [i for i, s in enumerate(samples) if self._part(s) == part]
            for number, values in zip(numbers, self.scores(part, [samples[i] for i in numbers]), strict=True):
                found[number] = values.tolist()
        return found

    def scores(self, part: str, samples: Sequence[Sample]) -> list[Tensor]:
        scorer = self.policy.use(part)
        found = [torch.empty(0)] * len(samples)
        with torch.no_grad(), self.precision():
            for micro in pack([len(s.ids) for s in samples], self.settings.micro_tokens):
                rows = rows_of(micro, samples, self.device)
                logprobs = scorer(rows).logprobs
                for number in {n for row in micro.rows for n in row}:
                    found[number] = logprobs[rows.owners == number]
        return found

    def _optimiser(self, part: str) -> torch.optim.Optimizer:
        role, parameters = self.role(part), list(self.policy.trained(part).values())
        return torch.optim.AdamW(
            parameters, lr=role.learning_rate, betas=self.settings.betas, weight_decay=self.settings.weight_decay
        )

    def role(self, part: str) -> RoleTraining:
        return self.settings.designer if part == DESIGNER else self.settings.agent

    def _part(self, sample: Sample) -> str:
        return self.policy.part(sample.role)

    def _wanted(self, sample: Sample) -> bool:
        return not (self.settings.frozen_designer and sample.role is Role.DESIGNER)

    def rate(self, part: str) -> float:
        rate, over = self.role(part).learning_rate, self.settings.decay_updates
        return rate * max(0.1, 1.0 - 0.9 * self.updates / over) if over else rate

    def precision(self) -> Any:
        bf16 = self.settings.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16) if bf16 else nullcontext()

    def _steer_entropy(self, tallies: dict[Role, Tally]) -> None:
        for role, tally in tallies.items():
            target = self.role(part_of(role)).entropy_target
            if target is not None and tally.sums["tokens"]:
                low, high = ENTROPY_BOUNDS
                moved = self.entropy_weights[part_of(role)] * math.exp(ENTROPY_RATE * (target - tally.entropy))
                self.entropy_weights[part_of(role)] = min(high, max(low, moved))

    @contextmanager
    def _memory_limit(self) -> Iterator[None]:
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            text = str(error).lower()
            if not isinstance(error, MemoryError) and "out of memory" not in text and "allocate memory" not in text:
                raise
            raise Abort(
                "The update ran out of memory.",
                f"Lower training.micro_tokens (now {self.settings.micro_tokens}), switch on "
                "training.gradient_checkpointing, or train an adapter (training.lora).",
            ) from error
