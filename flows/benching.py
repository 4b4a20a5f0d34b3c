"""Everything live that an evaluation needs, opened in order and closed again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from data.benchmarks.registry import Place, Wanted, open_suite
from data.catalog import Catalog
from flows.checkpoints import SCHEME, found_checkpoint, open_checkpoint
from flows.configuring import with_key
from inference.opening import open_model
from sandbox.opening import open_sandbox
from spade.evaluating import Suite
from spade.evaluation import Evaluation, Protocol, Put, Question
from spade.ports import Model
from spade.settings import FactorySettings


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants of an evaluation; None leaves the suite's own."""

    tasks: int | None = None
    samples: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    label: str = ""
    place: int | None = None

    def protocol(self, own: Protocol) -> Protocol:
        given = {name: getattr(self, name) for name in ("samples", "temperature", "max_tokens", "seed")}
        return replace(own, **{name: value for name, value in given.items() if value is not None})


@asynccontextmanager
async def opened(wanted: Wanted, settings: FactorySettings, catalog: Catalog) -> AsyncIterator[Suite]:
    """One suite with the sandbox where it needs that, closed with the block."""
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(open_sandbox(settings.sandbox)) if wanted.sandboxed else None
        found = settings.evaluation
        suite = open_suite(wanted, Place(found.environments.expanduser(), found.data.expanduser(), catalog, sandbox))
        stack.push_async_callback(suite.aclose)
        yield suite


@dataclass(frozen=True, slots=True)
class Answering:
    """The model that is evaluated. A checkpoint has a label and a place on the training axis of its own."""

    model: Model
    label: str = ""
    place: int | None = None

    def asked(self, asked: Asked) -> Asked:
        """What a person wants, with the checkpoint's own label and place where they named none."""
        place = self.place if asked.place is None else asked.place
        return replace(asked, label=asked.label or self.label, place=place)


@asynccontextmanager
async def open_evaluated(settings: FactorySettings) -> AsyncIterator[Answering]:
    """An endpoint, weights on the embedded server, or a checkpoint of the training folder in this process."""
    if settings.model.base_url is None and settings.model.source.startswith(SCHEME):
        saved = found_checkpoint(settings)
        engine = open_checkpoint(settings, saved)
        yield Answering(engine, f"{engine.name}, update {saved.record.update}", saved.record.update)
        return
    async with open_model(with_key(settings.model), settings.home) as model:
        yield Answering(model)


async def planned(
    suite: Suite, wanted: Wanted, asked: Asked, model: tuple[str, str]
) -> tuple[Evaluation, Sequence[Question]]:
    """The evaluation of `model` (its name and weights) as a record, and its tasks."""
    protocol = asked.protocol(suite.protocol)
    questions = await suite.questions(asked.tasks, protocol.seed)
    evaluation = Evaluation(
        put=Put(*model, suite.card, wanted.pairs, protocol),
        task_ids=tuple(q.task_id for q in questions),
        groups=tuple(q.group for q in questions),
        label=asked.label,
        place=asked.place,
    )
    return evaluation, questions
