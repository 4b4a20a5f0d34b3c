"""The run graph in the Prefect UI shows each environment's own chain, and nothing that is not so."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from prefect import flow, get_client, task
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import TaskRun
from prefect.context import FlowRunContext
from prefect.runtime import flow_run

from flows.generate import finish_cycle, next_cycle
from tasks.naming import forget_results, named
from tests.fakes import WholeFactoryModel
from tests.flows.test_cycle import parts_with

pytestmark = pytest.mark.usefixtures("prefect_server")
STEPS = {
    "judge": {"design"},
    "hint": {"design"},
    "play plain": {"design"},
    "play hinted": {"hint"},
    "score": {"play plain", "play hinted"},
}


@dataclass(frozen=True, slots=True)
class Thing:
    """A record that others hold."""

    word: str


@dataclass(frozen=True, slots=True)
class Holder:
    thing: Thing


@task
async def make(word: str) -> Holder:
    return Holder(Thing(word))


@task
async def use(holder: Holder) -> str:
    return holder.thing.word


async def recorded(run_id: UUID, counts: Mapping[str, int]) -> Sequence[TaskRun]:
    """The task runs of a flow run, as soon as the server has written down so many of each first word of a name."""
    wanted = FlowRunFilter(id=FlowRunFilterId(any_=[run_id]))
    async with get_client() as client:
        for _ in range(200):
            runs = await client.read_task_runs(flow_run_filter=wanted, limit=200)
            found = Counter(run.name.split()[0] for run in runs)
            if all(found[word] >= count for word, count in counts.items()):
                return runs
            await asyncio.sleep(0.1)
    raise AssertionError(f"of {counts} task runs {found} were written down")


def followed(runs: Sequence[TaskRun]) -> dict[str, set[str]]:
    """The names of the runs that each run follows."""
    names = {run.id: run.name for run in runs}
    return {
        run.name: {names[each.id] for given in run.task_inputs.values() for each in given if hasattr(each, "id")}
        for run in runs
    }


def step_and_slot(name: str) -> tuple[str, str]:
    """`play 00-causal_inference env-1 hinted r0` is the step `play hinted` of the slot `00-causal_inference`."""
    step, slot, *rest = name.split()
    return (f"play {rest[1]}" if step == "play" else step), slot


def test_each_step_follows_its_own_environment(tmp_path: Path) -> None:
    @flow(name="graph-under-test")
    async def graph_under_test() -> tuple[str, int]:
        async with parts_with(WholeFactoryModel(), tmp_path, cycle__slots=3, cycle__plays=2) as parts:
            await finish_cycle(parts, next_cycle(parts))
        context = FlowRunContext.get()
        assert context is not None
        return str(flow_run.id), len(context.run_results)

    run_id, kept = asyncio.run(graph_under_test())
    runs = asyncio.run(recorded(UUID(run_id), {"design": 3, "judge": 3, "hint": 3, "play": 6, "score": 3}))

    chain = {name: before for name, before in followed(runs).items() if re.match(r"\w+ \d\d-", name)}
    for name, before in chain.items():
        step, slot = step_and_slot(name)
        assert {step_and_slot(each) for each in before} == {(s, slot) for s in STEPS.get(step, ())}
    assert {step_and_slot(name)[0] for name in chain} == {"design", *STEPS}
    assert kept == 0


def test_only_the_given_objects_link_two_runs() -> None:
    @flow(name="links-under-test")
    async def links_under_test() -> str:
        made = await named(make, "make one")("one")
        other = await named(make, "make other")("other")
        await named(use, "use both", after=[other])(Holder(made.thing))
        forget_results()
        await named(use, "use later", after=[made])(made)
        return str(flow_run.id)

    runs = asyncio.run(recorded(UUID(asyncio.run(links_under_test())), {"make": 2, "use": 2}))

    assert followed(runs) == {"make one": set(), "make other": set(), "use both": {"make other"}, "use later": set()}
