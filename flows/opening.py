"""Where adapters meet: everything live is built here, handed down as ports, and closed in reverse order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from data.catalog import Catalog
from data.corpus import Corpus, open_corpus
from data.known import Known
from data.memory import VectorMemory, open_memory
from flows.allocating import give_back_memory, settle, trim
from flows.configuring import with_key
from flows.dealing import DEALT, open_dealer
from flows.observing import WATCHER
from flows.preflight import writable
from inference.accounts import Ledger, Metered
from inference.opening import open_model
from inference.routing import Router, open_router
from sandbox.opening import open_sandbox
from spade.blueprints.designer import BlueprintDesigner
from spade.designing import Designer
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


async def _playing(settings: FactorySettings, stack: AsyncExitStack, given: Model | None) -> Model:
    """The run's model, a given one if there is one; with another for designs and hints where the settings name one."""
    own = settings.designer.model if settings.designer.mode not in DEALT else None
    if given is not None and own is None:
        return given
    if given is not None and own is not None:
        other = await stack.enter_async_context(open_model(with_key(own), settings.home))
        return Router(given, dict.fromkeys((Role.DESIGNER, Role.HINT), (other,)))
    if own is None:
        return await stack.enter_async_context(open_model(with_key(settings.model), settings.home))
    roles = dict.fromkeys((Role.DESIGNER, Role.HINT), (with_key(own),))
    return await stack.enter_async_context(open_router(with_key(settings.model), roles, settings.home))


async def _designing(
    settings: FactorySettings, catalog: Catalog, stack: AsyncExitStack
) -> tuple[Designer, Model | None]:
    """Who designs; and who answers its prompts, where no model does."""
    wanted = settings.designer
    if wanted.mode == "blueprint":
        return BlueprintDesigner(wanted.reach), None
    code = CodeDesigner(settings.hint.max_words, plan=wanted.plan, document_words=wanted.document_words)
    return await open_dealer(settings, catalog, code, stack) if wanted.mode in DEALT else (code, None)


@asynccontextmanager
async def open_parts(settings: FactorySettings, *, model: Model | None = None) -> AsyncIterator[Parts]:
    """Open in the order of what is cheapest to refuse: folder, corpus, sandbox, model. A given `model` is used."""
    writable(settings.home)
    give_back_memory()
    trim()  # what the run before this one left is out of everybody's hands only now
    async with AsyncExitStack() as stack:
        stack.callback(trim)
        catalog = Catalog(settings.home, settings.store)
        stack.callback(catalog.close)
        corpus = open_corpus(settings.corpus)
        memory = open_memory(settings.memory, settings.home, settings.store)
        sandbox = await stack.enter_async_context(open_sandbox(settings.sandbox))
        designer, dealer = await _designing(settings, catalog, stack)
        model = await _playing(settings, stack, model)
        if dealer is not None:
            model = Router(model, {Role.DESIGNER: [dealer]})
        ledger, watcher = Ledger(), WATCHER.get()
        budget = Budget(catalog, settings, ledger)
        known = Known.load(memory, catalog)
        metered = Metered(WatchedModel(model, watcher), ledger)
        watched = WatchedSandbox(sandbox, watcher)
        settle()
        yield Parts(settings, catalog, corpus, memory, watched, metered, designer, known, budget)
