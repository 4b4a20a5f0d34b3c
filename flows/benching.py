"""Everything live that an evaluation needs, opened in order and closed again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from data.benchmarks.registry import Place, Wanted, open_suite
from data.catalog import Catalog
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


@asynccontextmanager
async def open_evaluated(settings: FactorySettings) -> AsyncIterator[Model]:
    """The model that is evaluated: an endpoint, or weights on the embedded server."""
    async with open_model(with_key(settings.model), settings.home) as model:
        yield model


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
