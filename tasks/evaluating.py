"""An evaluation as a Prefect task: every sample that is not stored yet, many at once; what is done is on disk."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from prefect import task
from prefect.cache_policies import NO_CACHE

from data.catalog import Catalog
from data.tables import EVALUATIONS, SAMPLES
from spade.evaluating import Suite, sample_of
from spade.evaluation import Evaluation, Question, Sample
from spade.evaluation_scores import GroupScore, group_scores
from spade.ports import Model
from tasks.factory import Nobody, Watcher
from tasks.naming import named

TRIES = 2
"""A sample that failed for reasons of ours or the endpoint's is tried again this often in all, in one run."""
STORE_SECONDS = 1.0


@dataclass(eq=False)
class Bench:
    """The live parts of an evaluation."""

    catalog: Catalog
    suite: Suite
    model: Model
    concurrency: int = 16
    watcher: Watcher = field(default_factory=Nobody)


@dataclass(frozen=True, slots=True)
class Due:
    """A sample that is still to be taken; `attempt` is its first try's number."""

    question: Question
    number: int
    attempt: int


async def evaluate_suite(bench: Bench, evaluation: Evaluation, questions: Sequence[Question]) -> tuple[GroupScore, ...]:
    """Take what is missing and score all of it. Killed anywhere, the same call goes on."""
    bench.catalog.append("evaluations", [evaluation])
    run = named(take_samples, f"evaluate {evaluation.put.suite.name}")
    await run(bench, evaluation, questions)
    return group_scores(evaluation, stored_samples(bench.catalog, evaluation))


def stored_samples(catalog: Catalog, evaluation: Evaluation) -> list[Sample]:
    return catalog.read(SAMPLES, settings_id=evaluation.settings_id)


def stored_evaluations(catalog: Catalog) -> list[Evaluation]:
    return catalog.read(EVALUATIONS)


def due(evaluation: Evaluation, questions: Sequence[Question], stored: Sequence[Sample]) -> list[Due]:
    """What has no measured sample yet, in the order of the tasks, those that begin alike together. What failed in an
    earlier run is tried again."""
    tried: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    for sample in stored:
        tried[sample.task_id, sample.number].append(sample)
    numbers = range(evaluation.put.protocol.samples)
    place = {alike: n for n, alike in enumerate(dict.fromkeys(question.alike for question in questions))}
    together = sorted(questions, key=lambda question: place[question.alike])
    wanted = [(question, number) for question in together for number in numbers]
    return [
        Due(question, number, max((s.attempt + 1 for s in tried[question.task_id, number]), default=0))
        for question, number in wanted
        if not any(s.outcome.measured for s in tried[question.task_id, number])
    ]


class _Gate:
    """Lets `count` samples through at once, and of tasks that begin alike one after the other: the engine's prompt
    cache then serves the later ones, where two at once would both read the same text anew."""

    def __init__(self, count: int) -> None:
        self._all = asyncio.Semaphore(count)
        self._alike: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def through(self, alike: str) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if alike:
                await stack.enter_async_context(self._alike[alike])
            await stack.enter_async_context(self._all)
            yield


@task(cache_policy=NO_CACHE)
async def take_samples(bench: Bench, evaluation: Evaluation, questions: Sequence[Question]) -> int:
    """All samples that are due, concurrently; finished ones are stored while others still run. Returns how many."""
    missing = due(evaluation, questions, stored_samples(bench.catalog, evaluation))
    asked = len(questions) * evaluation.put.protocol.samples
    name = evaluation.put.suite.name
    bench.watcher.saw("evaluating", name, asked=asked, stored=asked - len(missing))
    gate = _Gate(bench.concurrency)
    running = {asyncio.create_task(_take(bench, evaluation, each, gate)) for each in missing}
    try:
        while running:
            done, running = await asyncio.wait(running, timeout=STORE_SECONDS)
            _store(bench, name, done)
    finally:
        for waiting in running:
            waiting.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return len(missing)


def _store(bench: Bench, name: str, done: set[asyncio.Task[list[Sample]]]) -> None:
    """Store what ended well, then let the first failure pass."""
    taken = [task.result() for task in done if task.exception() is None]
    bench.catalog.append("samples", [sample for tries in taken for sample in tries])
    for tries in taken:
        bench.watcher.saw("sampled", name, outcome=tries[-1].outcome, score=tries[-1].score)
    for task_ in done:
        task_.result()


async def _take(bench: Bench, evaluation: Evaluation, each: Due, gate: _Gate) -> list[Sample]:
    """One sample with all its tries."""
    tries: list[Sample] = []
    async with gate.through(each.question.alike):
        while len(tries) < TRIES:
            attempt = each.attempt + len(tries)
            tries.append(await sample_of(bench.suite, evaluation.put, each.question, bench.model, each.number, attempt))
            if not tries[-1].outcome.worth_retrying:
                break
    return tries
