"""Checkpoints: whole or absent, able to go on bit for bit, and loadable by transformers and vLLM.

A checkpoint's folder holds `model/` (and `designer/` for a copy of its own), or `adapters/<part>/` with LoRA; the
optimisers and averages in `trainer.pt`; the run's own state in `state.json`; and `manifest.json`, written last, with
the checksum of every file.
"""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from spade.errors import Abort, boundary
from spade.learning import Checkpoint
from training.averaging import served_state
from training.learner import Learner
from training.policy import AGENT, DESIGNER, open_policy
from training.spread import spread_like, whole
from training.writing import folder_appearing, sweep

FORMAT = 1
TRAINER = "trainer.pt"


@dataclass(frozen=True)
class Saved:
    """A checkpoint on disk."""

    record: Checkpoint
    folder: Path

    @property
    def state(self) -> dict[str, Any]:
        """What the run kept beside the weights: trackers, unfinished cycles, corpus position."""
        return json.loads((self.folder / "state.json").read_text("utf-8"))


@dataclass(frozen=True)
class Held:
    """What a checkpoint keeps of a learner, put together from all processes: weights by folder, and the rest."""

    weights: Mapping[str, Mapping[str, Tensor]]
    trainer: Mapping[str, Any]


@dataclass
class Checkpoints:
    """The checkpoints under one folder. `keep` latest stay, and every `keep_every`-th."""

    folder: Path
    base: str = ""
    keep: int = 3
    keep_every: int = 0

    def save(self, learner: Learner, *, batch_id: str, parent: str, state: Mapping[str, Any] | None = None) -> Saved:
        """Write the learner as it stands. Raises `Abort` when the disk is full; what was there before stays.

        Where several processes train, all of them call this, and the first writes.
        """
        held = Held(_weights(learner), _trainer_state(learner))
        record = Checkpoint(learner.updates, batch_id, parent, self.base, weights_name(learner))
        target = self.folder / f"{learner.updates:06d}-{record.checkpoint_id}"
        if not learner.spread.leads:
            return Saved(record, target)
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.folder)
        if not target.exists():
            with folder_appearing(target) as part:
                _write_weights(learner, held.weights, part)
                torch.save(held.trainer, part / TRAINER)
                (part / "state.json").write_text(json.dumps(dict(state or {}), indent=1), "utf-8")
                files = {str(p.relative_to(part)): _checksum(p) for p in sorted(part.rglob("*")) if p.is_file()}
                told = {"format": FORMAT, "id": record.checkpoint_id, **asdict(record), "files": files}
                told["settings"] = learner.settings.model_dump(mode="json")
                (part / "manifest.json").write_text(json.dumps(told, indent=1), "utf-8")
        self.prune()
        return Saved(record, target)

    def all(self) -> list[Saved]:
        """Every whole checkpoint, oldest first."""
        found = []
        for manifest in sorted(self.folder.glob("[0-9]*-ckpt-*/manifest.json")):
            told = json.loads(manifest.read_text("utf-8"))
            record = Checkpoint(told["update"], told["batch_id"], told["parent"], told["base"], told["weights"])
            found.append(Saved(record, manifest.parent))
        return found

    def latest(self) -> Saved | None:
        """The newest checkpoint whose files are all as they were written."""
        return next((saved for saved in reversed(self.all()) if not damaged(saved)), None)

    def prune(self) -> None:
        """Delete checkpoints that retention does not keep."""
        for saved in self.all()[: -self.keep]:
            if not (self.keep_every and saved.record.update % self.keep_every == 0):
                shutil.rmtree(saved.folder, ignore_errors=True)


def restore(learner: Learner, saved: Saved) -> None:
    """Put a checkpoint into a learner of the same settings, so that it goes on bit for bit. Raises `Abort`."""
    broken = damaged(saved)
    if broken:
        raise Abort(f"{saved.folder.name} is damaged: {broken}.", "Go on from an older checkpoint.")
    with boundary(Abort, f"{saved.folder.name} does not fit these training settings", "Train with its own settings."):
        stored = torch.load(saved.folder / TRAINER, map_location=learner.device, weights_only=True)
        for part, values in stored["trained"].items():
            for name, parameter in learner.policy.trained(part).items():
                with torch.no_grad():
                    parameter.copy_(spread_like(values[name], parameter))
        for part, optimiser in learner.optimisers.items():
            optimiser.load_state_dict(_spread_state(stored["optimisers"][part], learner.policy.trained(part).values()))
        learner.updates = stored["updates"]
        learner.entropy_weights = dict(stored["entropy_weights"])
        learner.averages = {
            part: {name: spread_like(value, learner.policy.trained(part)[name]) for name, value in values.items()}
            for part, values in stored["averages"].items()
        }
        learner.first = _spread_first(learner, stored["first"])


def _spread_first(learner: Learner, first: Mapping[str, Tensor] | None) -> dict[str, Tensor] | None:
    if first is None:
        return None
    trained = {f"{part}:{n}": p for part in learner.policy.parts for n, p in learner.policy.trained(part).items()}
    return {name: spread_like(value, trained[name]) for name, value in first.items()}


def resumed(saved: Saved | None, base: Path, learner_settings: Any, seed: int) -> Learner:
    """A learner from its last checkpoint, or from the base model when there is none."""
    from training.reference import keep_first

    learner = Learner(open_policy(base, learner_settings), learner_settings, seed)
    if saved is None:
        keep_first(learner)
    else:
        restore(learner, saved)
    return learner


def weights_name(learner: Learner) -> str:
    """12 hex digits that depend on the bytes of the trained weights alone."""
    sha = sha256()
    for part in sorted(learner.policy.parts):
        for name, parameter in sorted(learner.policy.trained(part).items()):
            sha.update(name.encode())
            sha.update(whole(parameter.detach()).cpu().contiguous().numpy().tobytes())
    return sha.hexdigest()[:12]


def damaged(saved: Saved) -> str:
    """What is wrong with a checkpoint's files, empty when nothing is."""
    files = json.loads((saved.folder / "manifest.json").read_text("utf-8"))["files"]
    for name, checksum in files.items():
        path = saved.folder / name
        if not path.is_file():
            return f"{name} is missing"
        if _checksum(path) != checksum:
            return f"{name} is not as it was written"
    return ""


FOLDERS = {AGENT: "model", DESIGNER: "designer"}


def _weights(learner: Learner) -> dict[str, dict[str, Tensor]]:
    """The whole weights by the folder they go to."""
    policy = learner.policy
    if policy.adapters:
        return {"adapters": {name: whole(v.detach()) for name, v in policy.parts[AGENT].model.state_dict().items()}}
    return {FOLDERS[name]: served_state(learner, name) for name in policy.parts}


def _write_weights(learner: Learner, weights: Mapping[str, Mapping[str, Tensor]], part: Path) -> None:
    policy = learner.policy
    models = {FOLDERS[name]: policy.parts[name].model for name in policy.parts} | {
        "adapters": policy.parts[AGENT].model
    }
    for folder, state in weights.items():
        models[folder].save_pretrained(part / folder, state_dict=dict(state))
    if policy.tokenizer is not None:
        for folder in ("model", "designer", "adapters"):
            if (part / folder).exists():
                policy.tokenizer.save_pretrained(part / folder)


def export_merged(learner: Learner, target: Path, part: str = AGENT) -> Path:
    """The playing weights as an ordinary transformers folder, adapters merged: what vLLM and llama.cpp load."""
    model = learner.policy.parts[part].model
    bare = model.get_base_model() if hasattr(model, "get_base_model") else model
    with folder_appearing(target) as made:
        state = served_state(learner, part)
        type(bare)(bare.config).load_state_dict(state)  # refuses a state that lacks or adds a weight
        bare.save_pretrained(made, state_dict=state)
        if learner.policy.tokenizer is not None:
            learner.policy.tokenizer.save_pretrained(made)
    return target


def _trainer_state(learner: Learner) -> dict[str, Any]:
    state = {
        "updates": learner.updates,
        "trained": {
            part: {n: p.detach() for n, p in learner.policy.trained(part).items()} for part in learner.optimisers
        },
        "optimisers": {part: optimiser.state_dict() for part, optimiser in learner.optimisers.items()},
        "entropy_weights": dict(learner.entropy_weights),
        "averages": learner.averages,
        "first": learner.first,
    }
    return tree_map(lambda value: whole(value) if isinstance(value, Tensor) else value, state)


def _spread_state(state: Mapping[str, Any], parameters: Iterable[nn.Parameter]) -> dict[str, Any]:
    """An optimiser's whole state with what is shaped like a parameter sharded as that is."""
    held = dict(state["state"])
    for number, parameter in enumerate(parameters):
        if number in held:
            held[number] = {
                name: spread_like(value, parameter) if name != "step" else value for name, value in held[number].items()
            }
    return {**state, "state": held}


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
