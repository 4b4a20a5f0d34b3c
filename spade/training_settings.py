"""How the shared policy learns: the `training` group of the settings."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from spade.settings_base import Settings, Share


class RoleTraining(Settings):
    """How one role's samples move the weights (docs/learning.md)."""

    learning_rate: PositiveFloat = 1e-6
    minibatches: PositiveInt = 1
    """Optimiser steps one batch is split into."""
    step_samples: NonNegativeInt = 0
    """Samples of one optimiser step, about: a batch that teaches more takes more steps. 0: `minibatches` decides."""
    epochs: PositiveInt = 1
    """How often each batch is gone through."""
    clip_low: float = Field(0.2, gt=0.0, lt=1.0)
    clip_high: PositiveFloat = 0.28
    """A token's ratio pays only inside [1 - clip_low, 1 + clip_high]."""
    kl: float = Field(0.0, ge=0.0)
    """Weight of the low-variance KL to the first weights."""
    entropy: float = Field(0.0, ge=0.0)
    """Weight of the entropy bonus."""
    entropy_target: float | None = None
    """Entropy per token, in nats, that the bonus is steered to; off when absent."""
    max_grad_norm: PositiveFloat = 1.0

    def steps(self, samples: int) -> int:
        """Optimiser steps for a batch of so many samples, in each epoch."""
        return max(1, round(samples / self.step_samples)) if self.step_samples else self.minibatches


class LoraSettings(Settings):
    """A low-rank adapter on every linear layer; absent as a whole by default, and then all weights are trained."""

    rank: PositiveInt = 16
    alpha: PositiveInt = 32


class FrontierSettings(Settings):
    """How the designer's reward is made when training: the stored score's own, or smooth on shrunken win rates."""

    reward: Literal["score", "tent", "variance", "learning_potential"] = "score"
    shrinkage: float = Field(0.0, ge=0.0)
    """Pseudo-plays towards the skill's recent mean win rate; 0 takes win rates as they are."""


class ReplaySettings(Settings):
    """What share of a cycle's environments are remembered ones, played again."""

    in_band: float = Share
    """Environments where plays teach, drawn as `draw` says."""
    draw: Literal["rating", "win_rate"] = "rating"
    """`rating`: by the win probability that the agent's rating predicts, 0.3 to 0.7 first. `win_rate`: by closeness of
    the last win rate to an even one, and by staleness."""
    hard: float = Field(0.1, ge=0.0, le=1.0)
    """Share of the ones drawn by rating that goes to environments predicted below 0.3: a floor of difficulty."""
    mastered: float = Share
    """Drawn by staleness and checked again."""


class TrainingSettings(Settings):
    """How the shared policy learns (docs/learning.md). Defaults are the paper's for 4B to 30B models."""

    base: str = "package:smollm2-135m"
    """Weights to start from: a transformers folder (`path:FOLDER`), or `package:NAME`."""
    agent: RoleTraining = RoleTraining()
    designer: RoleTraining = RoleTraining()
    """Its learning rate, steps and clips count only for a designer of its own (`separate_designer`)."""
    separate_designer: bool = False
    """Designer as an adapter (with LoRA) or a copy of the weights of its own, with an optimiser of its own."""
    frozen_designer: bool = False
    """Leave the designer's samples out."""
    importance_cap: PositiveFloat = 2.0
    """Truncates the importance weights of samples that are some rounds old."""
    ratio_limit: PositiveFloat = 1e3
    """A sample with a token ratio above it is left out and counted."""
    weight_decay: float = Field(0.1, ge=0.0)
    betas: tuple[float, float] = (0.9, 0.98)
    decay_updates: NonNegativeInt = 0
    """Updates over which learning rates fall to a tenth, linearly; 0 keeps them constant."""
    warm_start_epochs: NonNegativeInt = 0
    """How often curated positives are imitated before the first update; 0 leaves the warm start out."""
    warm_start_rate: PositiveFloat = 1e-5
    average: float = Field(0.0, ge=0.0, lt=1.0)
    """Share of the old average kept per update in the averaged weights that play; 0 plays the last ones."""
    lora: LoraSettings | None = None
    """Absent: all weights are trained."""
    processes: PositiveInt = 1
    """Processes that make an update together, one a GPU: weights are sharded over them (FSDP), samples dealt out."""
    precision: Literal["fp32", "bf16"] = "fp32"
    gradient_checkpointing: bool = False
    max_tokens: PositiveInt = 32768
    """Longer samples are skipped and counted."""
    micro_tokens: PositiveInt = 8192
    """Tokens in one forward and backward pass; what bounds memory."""
    overlap: bool = False
    """Update on one round while the next is played, by weights that are then one update old. Within a cycle only."""
    keep: PositiveInt = 3
    """Latest checkpoints that stay; every `keep_every`-th stays as well."""
    keep_every: NonNegativeInt = 0
    frontier: FrontierSettings = FrontierSettings()
    replay: ReplaySettings = ReplaySettings(in_band=0.0, mastered=0.0)
    ready_plays: PositiveInt = 1024
    """From so many measured plays of finished cycles that no update has seen, the factory tells that it is time
    to learn (automation *train when enough plays are ready*)."""
    hint_threshold: float | None = None
    """The hinted arm is played on `hint_audit` of the environments only, and on all while its mean regret is above
    this; absent plays it always."""
    hint_audit: float = Field(0.05, ge=0.0, le=1.0)
