"""A checkpoint for llama.cpp: its weights as a GGUF file, served once and compared with what was trained."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.writing import folder_made
from flows.schooling import base_folder, need_torch
from inference.opening import open_model
from inference.reloading import likeliest_next
from inference.retrained import write_gguf
from inference.sources import fetch
from spade.errors import Abort
from spade.settings import FactorySettings
from spade.training_settings import TrainingSettings

if TYPE_CHECKING:
    from training.checkpoints import Saved

TOLERANCES: Mapping[str, float] = {"F32": 0.01, "F16": 0.01, "Q8_0": 0.15}
"""Nats between trained and served log-probabilities: what rounding to a type may do. Weights in a wrong place make
several nats."""
PROMPTS = (
    "You are a careful player. Find the hidden number from 1 to 8.",
    "Write the next word of the series: red, blue, red, blue,",
    "A farmer has nine sheep. All but four run away. How many are left?",
)


@dataclass(frozen=True, slots=True)
class Packed:
    """A file that was written, of which checkpoint, and the gap in nats between what it serves and what was trained."""

    file: Path
    checkpoint_id: str
    gap: float


async def pack_checkpoint(
    settings: FactorySettings, checkpoint: str | None, like: Path | None, kind: str, out: Path | None
) -> Packed:
    """Write a checkpoint (its id or the beginning of one; the latest when None) as a GGUF file and probe it.

    `like` is the GGUF file whose metadata and tokenizer it gets; for a packaged base model that one's. The file appears
    under its name once the probe has passed. Raises `Abort` with a remedy.
    """
    need_torch()
    saved = _chosen(settings, checkpoint)
    source = like or _base_gguf(settings)
    target = out or settings.home / "models" / f"{saved.record.checkpoint_id}.{kind.lower()}.gguf"
    folder_made(target.parent)
    part = target.with_name(f".part-{target.name}")
    try:
        model, tokenizer = _trained(settings, saved)
        write_gguf(model.state_dict(), source, part, kind)
        gap = await _probed(settings, part, model, tokenizer)
        if gap > TOLERANCES[kind]:
            raise Abort(
                f"The packed weights differ from the trained ones by {gap:.2f} nats (at most {TOLERANCES[kind]}).",
                f"Is {source.name} the file this model was trained from? --type F16 rounds less.",
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return Packed(target, saved.record.checkpoint_id, gap)


def _chosen(settings: FactorySettings, checkpoint: str | None) -> "Saved":
    from training.checkpoints import Checkpoints

    every = Checkpoints(settings.home / "checkpoints").all()
    if not every:
        raise Abort(f"{settings.home} has no checkpoint.", "Train first: spade train, or spade self-play.")
    found = [s for s in every if s.record.checkpoint_id.startswith(checkpoint)] if checkpoint else every[-1:]
    if len(found) != 1:
        kept = ", ".join(s.record.checkpoint_id for s in every[-5:])
        raise Abort(f"{len(found)} checkpoints begin with {checkpoint!r}.", f"Name one of those kept: {kept}.")
    return found[0]


def _base_gguf(settings: FactorySettings) -> Path:
    base = settings.training.base
    if not base.startswith("package:"):
        raise Abort(
            f"{base} does not say which GGUF file has its tokenizer.", "Name it: --like FILE.gguf, of the same model."
        )
    return fetch(base, settings.home / "models").path


def _trained(settings: FactorySettings, saved: "Saved") -> tuple[Any, Any]:
    """The model that plays, adapters merged or averages taken, and its tokenizer."""
    import json

    from training.averaging import served_state
    from training.checkpoints import resumed
    from training.policy import AGENT

    told = json.loads((saved.folder / "manifest.json").read_text("utf-8"))
    training = TrainingSettings.model_validate(told["settings"])
    learner = resumed(saved, base_folder(settings), training, settings.seed)
    model = learner.policy.parts[AGENT].model
    bare = model.get_base_model() if hasattr(model, "get_base_model") else model
    plain = type(bare)(bare.config).eval()
    plain.load_state_dict(served_state(learner, AGENT))
    return plain, learner.policy.tokenizer


async def _probed(settings: FactorySettings, file: Path, model: Any, tokenizer: Any) -> float:
    """The gap of the worst of some prompts, from a server started with the file: the mean difference of
    log-probabilities over the likeliest next tokens, each weighted by its trained probability."""
    served = settings.model.model_copy(
        update={"source": f"path:{file}", "base_url": None, "name": None, "concurrency": 1, "context": 512}
    )
    gap = 0.0
    async with open_model(served, settings.home) as endpoint:
        for ids, trained in _expected(model, tokenizer):
            told = await likeliest_next(endpoint, ids)
            gap = max(gap, sum(math.exp(trained[token]) * abs(trained[token] - value) for token, value in told.items()))
    return gap


def _expected(model: Any, tokenizer: Any) -> Iterator[tuple[list[int], Any]]:
    """Tokens of a prompt, and the trained log-probabilities [vocabulary] of what follows."""
    import torch

    for prompt in PROMPTS:
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            yield ids, model(torch.tensor([ids])).logits[0, -1].float().log_softmax(-1).tolist()
