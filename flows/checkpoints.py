"""A checkpoint of the training folder as a model: `checkpoint:latest`, an update's number, an id, or a folder."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.schooling import base_folder, need_torch
from spade.errors import Abort
from spade.settings import FactorySettings
from spade.training_settings import TrainingSettings

if TYPE_CHECKING:
    from inference.in_process.engine import TorchEngine
    from training.checkpoints import Saved

SCHEME = "checkpoint:"


def found_checkpoint(settings: FactorySettings) -> "Saved":
    """The checkpoint that `model.source` names."""
    return named_checkpoint(settings, settings.model.source.removeprefix(SCHEME))


def named_checkpoint(settings: FactorySettings, wanted: str) -> "Saved":
    """`latest`, an update's number, an id, or a folder, its files as they were written. Raises `Abort` with those there
    are."""
    need_torch()
    from training.checkpoints import Checkpoints, damaged

    place = Path(wanted).expanduser()
    store = Checkpoints(place.parent if place.is_dir() else settings.home / "checkpoints")
    there = store.all()
    if wanted == "latest":
        saved = store.latest()
    else:
        names = {name: each for each in there for name in (str(each.record.update), each.record.checkpoint_id)}
        saved = names.get(wanted) or next((each for each in there if each.folder == place), None)
    if saved is None:
        listed = (
            ", ".join(f"{each.record.update} ({each.record.checkpoint_id})" for each in there)
            or "none yet; spade train and spade self-play make them"
        )
        raise Abort(f"There is no checkpoint {wanted!r} in {store.folder}.", f"There is: {listed}.")
    broken = damaged(saved)
    if broken:
        raise Abort(f"{saved.folder.name} is damaged: {broken}.", "Take an older checkpoint.")
    return saved


def open_checkpoint(settings: FactorySettings, saved: "Saved") -> "TorchEngine":
    """An engine in this process with the weights that play: averaged where they were, adapters merged."""
    from inference.in_process.engine import AGENT, Size, TorchEngine

    model, tokenizer = playing_model(settings, saved)
    model.config.use_cache = True
    size = Size(batch=settings.model.concurrency, context=settings.model.context)
    record = saved.record
    return TorchEngine({AGENT: model}, tokenizer, name=record.base or "policy", weights=record.weights, size=size)


def playing_model(settings: FactorySettings, saved: "Saved") -> tuple[Any, Any]:
    """The transformers model that plays, adapters merged, and its tokenizer."""
    return _full(saved) if (saved.folder / "model").is_dir() else _adapted(settings, saved)


def _full(saved: "Saved") -> tuple[Any, Any]:
    """The model as it lies in the checkpoint: what plays is what is written there."""
    from training.policy import AGENT, open_policy

    policy = open_policy(saved.folder / "model", TrainingSettings())
    return policy.parts[AGENT].model, policy.tokenizer


def _adapted(settings: FactorySettings, saved: "Saved") -> tuple[Any, Any]:
    """The base model with the checkpoint's adapters. Raises `Abort` when `training.base` is another model."""
    from training.averaging import served_state
    from training.checkpoints import resumed
    from training.policy import AGENT, open_policy

    folder = base_folder(settings)
    if folder.name != saved.record.base:
        raise Abort(
            f"{saved.folder.name} holds adapters for {saved.record.base}, and training.base is {folder.name}.",
            "Set training.base to the model that it was trained from.",
        )
    told = json.loads((saved.folder / "manifest.json").read_text("utf-8"))["settings"]
    learner = resumed(saved, folder, TrainingSettings.model_validate(told), settings.seed)
    policy = open_policy(folder, TrainingSettings())
    policy.parts[AGENT].model.load_state_dict(served_state(learner, AGENT))
    return policy.parts[AGENT].model, policy.tokenizer
