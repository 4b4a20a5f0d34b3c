"""Where adapters meet: everything live is built here, handed down as ports, and closed in reverse order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from data.catalog import Catalog
from data.corpus import Corpus, open_corpus
from data.known import Known
from data.memory import VectorMemory, open_memory
from flows.configuring import with_key
from flows.observing import WATCHER
from flows.preflight import writable
from inference.accounts import Ledger, Metered
from inference.opening import open_model
from inference.routing import Router, open_router
from sandbox.opening import open_sandbox
from spade.blueprints.designer import BlueprintDesigner
from spade.dealing import PoolDesigner, PoolModel
from spade.designing import Designer
from spade.errors import Abort
from spade.messages import Role
from spade.ports import Model, Sandbox
from spade.prompting import CodeDesigner
from spade.settings import FactorySettings
from tasks.budgeting import Budget
from tasks.observing import WatchedModel, WatchedSandbox


@dataclass(frozen=True)
class Parts:
    """The live parts that all cycles of a run share. `known` are the environments accepted so far."""

    settings: FactorySettings
    catalog: Catalog
    corpus: Corpus
    memory: VectorMemory
    sandbox: Sandbox
    model: Model
    designer: Designer
    known: Known
    budget: Budget


@asynccontextmanager
async def _playing(settings: FactorySettings) -> AsyncIterator[Model]:
    """The run's model, with another one for designs and hints where the settings name one."""
    own = settings.designer.model
    if settings.designer.mode == "pool":
        async with open_model(with_key(settings.model), settings.home) as model:
            yield Router(model, {Role.DESIGNER: [PoolModel(_pool(settings))]})
        return
    if own is None:
        async with open_model(with_key(settings.model), settings.home) as model:
            yield model
        return
    roles = dict.fromkeys((Role.DESIGNER, Role.HINT), (with_key(own),))
    async with open_router(with_key(settings.model), roles, settings.home) as router:
        yield router


def _designer(settings: FactorySettings) -> Designer:
    wanted = settings.designer
    if wanted.mode == "blueprint":
        return BlueprintDesigner(wanted.reach)
    code = CodeDesigner(settings.hint.max_words, plan=wanted.plan, document_words=wanted.document_words)
    return PoolDesigner(_pool(settings), code) if wanted.mode == "pool" else code


def _pool(settings: FactorySettings) -> list[str]:
    """The pool's programs by file name. Raises `Abort` where there are fewer than a cycle has slots."""
    folder = Path(settings.designer.pool).expanduser()
    programs = [path.read_text("utf-8") for path in sorted(folder.glob("*.py"))] if settings.designer.pool else []
    if len(programs) < settings.cycle.slots:
        raise Abort(
            f"The pool {settings.designer.pool or '(none is named)'} has {len(programs)} programs for "
            f"{settings.cycle.slots} slots.",
            "Name a folder of Python files with designer.pool, or plan fewer slots.",
        )
    return programs


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
            model = await stack.enter_async_context(_playing(settings))
        designer = _designer(settings)
        ledger, watcher = Ledger(), WATCHER.get()
        budget = Budget(catalog, settings, ledger)
        known = Known.load(memory, catalog)
        metered = Metered(WatchedModel(model, watcher), ledger)
        watched = WatchedSandbox(sandbox, watcher)
        yield Parts(settings, catalog, corpus, memory, watched, metered, designer, known, budget)
