"""The weights that learn: one model for both roles, or a designer of its own as an adapter or a copy."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spade.errors import Abort, boundary
from spade.messages import Role
from spade.training_settings import TrainingSettings
from training.scoring import Scorer
from training.spread import shard, spread_now

AGENT, DESIGNER = "agent", "designer"


@dataclass(eq=False)
class Policy:
    """A model of transformers, its tokenizer, and who plays with which weights.

    `parts` maps `agent` (and `designer`, when it has weights of its own) to a scorer; with adapters both share one
    model and `use` switches between them.
    """

    tokenizer: Any
    parts: dict[str, Scorer]
    adapters: bool = False

    def part(self, role: Role) -> str:
        """Which part plays a role: the designer its own if it has one, every other role the agent's."""
        return DESIGNER if role is not Role.AGENT and DESIGNER in self.parts else AGENT

    def use(self, part: str) -> Scorer:
        """The scorer of a part, its adapter active."""
        scorer = self.parts[part]
        if self.adapters and len(self.parts) > 1:
            scorer.model.set_adapter(part)
        return scorer

    def trained(self, part: str) -> dict[str, nn.Parameter]:
        """The parameters that learn for a part, by name."""
        return dict(self._trained(part))

    def _trained(self, part: str) -> Iterator[tuple[str, nn.Parameter]]:
        for name, parameter in self.parts[part].model.named_parameters():
            if not self.adapters or f".{part}." in name:
                yield name, parameter

    @property
    def vocabulary(self) -> int:
        bare = self.parts[AGENT].model
        bare = bare.get_base_model() if hasattr(bare, "get_base_model") else bare
        return int(bare.get_output_embeddings().weight.shape[0])


def open_policy(folder: Path, settings: TrainingSettings, *, adapter: Path | None = None) -> Policy:
    """Load a transformers folder for training, onto the GPU where there is one. `adapter`: adapters to go on from.

    One of several processes under `accelerate launch` keeps its shard of them. Raises `Abort` when the folder holds no
    model that transformers knows.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with boundary(Abort, f"no model could be loaded from {folder}", "Name a transformers folder: training.base."):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)

        def load() -> Any:
            # Weights stay in fp32; bf16 is what they are computed in, so that small updates are not rounded away.
            model = AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float32, local_files_only=True, attn_implementation="sdpa"
            )
            return model.to(_device(settings))

        model = load()
        copy = load() if settings.separate_designer and settings.lora is None else None
    policy = policy_of(model, tokenizer, settings, designer=copy, adapter=adapter)
    shard(policy)
    return policy


def policy_of(
    model: Any, tokenizer: Any, settings: TrainingSettings, *, designer: Any = None, adapter: Path | None = None
) -> Policy:
    """A policy around a loaded model. Dropout is off: the trained log-probabilities must be those that were served."""
    for each in (model, designer):
        if each is not None:
            _prepare(each, settings)
    if settings.lora is not None:
        return _with_adapters(model, tokenizer, settings, adapter)
    parts = {AGENT: Scorer(model)}
    if settings.separate_designer:
        if designer is None:
            raise ValueError("a separate designer without LoRA needs a model of its own")
        parts[DESIGNER] = Scorer(designer)
    return Policy(tokenizer, parts)


def _device(settings: TrainingSettings) -> str:
    """The GPU where there is one; not in a process that only looks on while several others train."""
    looks_on = settings.processes > 1 and spread_now().world == 1
    return "cuda" if torch.cuda.is_available() and not looks_on else "cpu"


def _prepare(model: Any, settings: TrainingSettings) -> None:
    model.eval()
    model.config.use_cache = False
    if settings.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.train()
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0


def _with_adapters(model: Any, tokenizer: Any, settings: TrainingSettings, adapter: Path | None) -> Policy:
    from peft import LoraConfig, PeftModel, get_peft_model

    assert settings.lora is not None
    names = [AGENT, DESIGNER] if settings.separate_designer else [AGENT]
    if settings.gradient_checkpointing:
        model.enable_input_require_grads()
    if adapter is not None:
        with boundary(Abort, f"no adapter could be loaded from {adapter}"):
            wrapped = PeftModel.from_pretrained(model, adapter / AGENT, adapter_name=AGENT, is_trainable=True)
            for name in names[1:]:
                wrapped.load_adapter(adapter / name, adapter_name=name, is_trainable=True)
    else:
        config = LoraConfig(
            r=settings.lora.rank,
            lora_alpha=settings.lora.alpha,
            lora_dropout=0.0,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        wrapped = get_peft_model(model, config, adapter_name=AGENT)
        for name in names[1:]:
            wrapped.add_adapter(name, config)
    wrapped.set_adapter(AGENT)
    if not settings.gradient_checkpointing:
        wrapped.eval()
    scorer = Scorer(wrapped)
    return Policy(tokenizer, {name: scorer for name in names}, adapters=True)
