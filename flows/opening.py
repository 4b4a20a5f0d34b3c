"""Where adapters meet: everything live is built here, handed down as ports, and closed in reverse order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from data.catalog import Catalog
from data.corpus import Corpus, open_corpus
from data.memory import VectorMemory, open_memory
from flows.configuring import api_key
from inference.opening import open_model
from sandbox.opening import open_sandbox
from spade.blueprints.designer import BlueprintDesigner
from spade.designing import Designer
from spade.diversity import structural_hash
from spade.errors import Abort
from spade.ports import Model, Sandbox
from spade.prompting import CodeDesigner
from spade.settings import FactorySettings


@dataclass(frozen=True)
class Parts:
    """The live parts that all cycles of a run share. `structures` maps structural hashes to environment ids."""

    settings: FactorySettings
    catalog: Catalog
    corpus: Corpus
    memory: VectorMemory
    sandbox: Sandbox
    model: Model
    designer: Designer
    structures: dict[str, str]


@asynccontextmanager
async def open_parts(settings: FactorySettings, *, model: Model | None = None) -> AsyncIterator[Parts]:
    """Open in the order of what is cheapest to refuse: folder, corpus, sandbox, model. A given `model` is used."""
    writable(settings.home)
    async with AsyncExitStack() as stack:
        catalog = Catalog(settings.home)
        stack.callback(catalog.close)
        corpus = open_corpus(settings.corpus)
        memory = open_memory(settings.memory, settings.home)
        sandbox = await stack.enter_async_context(open_sandbox(settings.sandbox))
        if model is None:
            key = api_key(settings)
            keyed = settings.model.model_copy(update={"api_key": SecretStr(key) if key else None})
            model = await stack.enter_async_context(open_model(keyed, settings.home))
        designer = (
            BlueprintDesigner() if settings.designer.mode == "blueprint" else CodeDesigner(settings.hint.max_words)
        )
        structures = {structural_hash(e.code): e.env_id for e in catalog.environments()}
        yield Parts(settings, catalog, corpus, memory, sandbox, model, designer, structures)


def writable(home: Path) -> None:
    """Raises `Abort` when run artifacts cannot be written there."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise Abort(
            f"The folder {home} cannot be written: {error.strerror or error}.",
            "Choose another with --home, or mend its permissions.",
        ) from error
