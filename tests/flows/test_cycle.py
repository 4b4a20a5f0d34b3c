"""One whole cycle in code mode: real gates, sandbox, catalog, memory and Prefect; only the model is scripted."""

import json
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from typer.testing import CliRunner

from data.catalog import Catalog
from flows.cli import app
from flows.configuring import flags_of, load_settings
from flows.generate import finish_cycle, next_cycle, open_cycle
from flows.opening import Parts, open_parts
from spade.documents import Document
from spade.errors import TooLong
from spade.messages import Completion, Request, Role
from spade.ports import Model
from spade.summary import CycleSummary
from tests.fakes import ScriptedModel, WholeFactoryModel

pytestmark = pytest.mark.usefixtures("prefect_server")
ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def parts_with(model: Model, home: Path, **flags: Any) -> AsyncIterator[Parts]:
    """The factory's own parts with another model. Hinting and playing go through the same code as ever."""
    small = {"cycle__slots": 3, "cycle__plays": 4, "gates__random_win_max": 0.3, "home": str(home)}
    small |= {"memory__duplicate_code": 1.0} | flags  # the scripted designer's locks differ in numbers alone
    async with AsyncExitStack() as stack:
        settings = load_settings("default", flags_of(**small))
        yield await stack.enter_async_context(open_parts(settings, model=model))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> tuple[Path, CycleSummary, list[str]]:
    """A finished cycle's folder and summary, and the functions of the walk in the order they were first called."""
    home = tmp_path_factory.mktemp("cycle")
    return _finish(home)


def _finish(home: Path) -> tuple[Path, CycleSummary, list[str]]:
    import asyncio

    from prefect import flow

    @flow(name="cycle-under-test")
    async def cycle_under_test() -> CycleSummary:
        async with parts_with(WholeFactoryModel(), home) as parts:
            return await finish_cycle(parts, next_cycle(parts))

    called: list[str] = []
    watched = {code: name for name, code in walk_steps().items()}
    sys.setprofile(_recorder(watched, called))
    try:
        summary = asyncio.run(cycle_under_test())
    finally:
        sys.setprofile(None)
    return home, summary, called


def walk_steps() -> dict[str, CodeType]:
    """The functions that docs/architecture.md names, one a numbered step, in its order."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    found: dict[str, CodeType] = {}
    for path, name in re.findall(r"^\d+\. `([a-z_/]+)\.py:([A-Za-z_.]+)`", text, re.MULTILINE):
        target: Any = import_module(path.replace("/", ".").removesuffix(".__init__"))
        for part in name.split("."):
            target = getattr(target, part)
        target = getattr(target, "fn", target)
        found[f"{path}.py:{name}"] = target.__code__
    return found


def _recorder(watched: dict[CodeType, str], called: list[str]) -> Callable[[FrameType, str, Any], None]:
    def record(frame: FrameType, event: str, _: Any) -> None:
        name = watched.get(frame.f_code) if event == "call" else None
        if name is not None and name not in called:
            called.append(name)

    return record


def test_a_cycle_goes_from_documents_to_a_dataset(finished: tuple[Path, CycleSummary, list[str]]) -> None:
    home, summary, _ = finished

    assert (summary.slots, summary.accepted, summary.dropped, summary.skills) == (3, 3, 0, 3)
    assert summary.attempts > summary.accepted
    assert "semantic.oracle_max" in dict(summary.rejections) or "form.vacuous" in dict(summary.rejections)
    assert (summary.episodes, summary.measured) == (24, 24)
    assert summary.wins_hinted > summary.wins_plain > 0
    assert summary.regret is not None
    assert summary.regret > 0
    rows = (home / "datasets" / summary.dataset_id).rglob("*.jsonl")
    lines = [json.loads(line) for path in rows for line in path.read_text().splitlines()]
    assert len(lines) == summary.rows == summary.wins_plain
    assert {"system", "user", "assistant"} == {m["role"] for line in lines for m in line["messages"]}
    assert (home / "report" / "index.html").exists()


def test_every_record_of_the_chain_is_stored(finished: tuple[Path, CycleSummary, list[str]]) -> None:
    home = finished[0]
    catalog = Catalog(home)
    counts = {
        table: catalog.query(f"select count(*) as n from {table}")[0]["n"]
        for table in ("cycles", "documents", "slots", "environments", "scores", "episodes", "decisions", "summaries")
    }
    levels = {row["isolation"] for row in catalog.query("select distinct isolation from episodes")}
    catalog.close()
    assert levels <= {"confined", "namespaced"}
    assert levels
    assert counts == {
        "cycles": 1,
        "documents": 3,
        "slots": 3,
        "environments": 3,
        "scores": 3,
        "episodes": 24,
        "decisions": 72,
        "summaries": 1,
    }


def test_agents_and_environments_are_rated_from_what_is_stored(finished: tuple[Path, CycleSummary, list[str]]) -> None:
    home, summary, _ = finished
    result = CliRunner().invoke(app, ["ratings", "--home", str(home), "--json"])
    found = json.loads(result.output)

    assert [(a["agent"], a["plays"]) for a in found["agents"]] == [("whole-factory-1", 12)]
    assert len(found["environments"]) == 3
    assert found["environments"] == sorted(found["environments"], key=lambda row: -row["predicted"])
    assert all(0 < row["predicted"] < 1 and row["plays"] == 4 for row in found["environments"])
    assert 0 < summary.wins_plain < 12


def test_the_walk_of_the_architecture_page_is_what_runs(finished: tuple[Path, CycleSummary, list[str]]) -> None:
    """Ten steps; the model's own step is the one a test replaces."""
    steps = list(walk_steps())
    assert len(steps) == 10
    assert finished[2] == [step for step in steps if "endpoint" not in step]


def test_a_finished_cycle_is_not_made_again_and_the_next_one_follows(
    finished: tuple[Path, CycleSummary, list[str]], tmp_path: Path
) -> None:
    import asyncio

    shutil.copytree(finished[0], tmp_path / "home")
    silent = ScriptedModel(AssertionError("the model was asked for what is stored"))

    async def numbers() -> tuple[int, int]:
        async with parts_with(silent, tmp_path / "home") as parts:
            return next_cycle(parts).number, len(parts.known.structures)

    assert asyncio.run(numbers()) == (1, 3)


def test_a_corpus_that_grew_does_not_change_a_cycle_under_way(
    finished: tuple[Path, CycleSummary, list[str]], tmp_path: Path
) -> None:
    import asyncio

    home = tmp_path / "home"
    shutil.copytree(finished[0], home)
    silent = ScriptedModel(AssertionError("the model was asked for what is stored"))

    async def planned(*texts: str) -> list[str]:
        async with parts_with(silent, home) as parts:
            documents = (*parts.corpus.documents, *(Document(text) for text in texts))
            grown = replace(parts, corpus=replace(parts.corpus, documents=documents, _orders={}))
            return [slot.document_id for slot in open_cycle(grown, parts.catalog.cycles()[0]).progress.slots]

    assert asyncio.run(planned("one more", "and another")) == asyncio.run(planned())


def test_a_cycle_that_lost_its_end_is_finished_without_a_word_to_the_model(
    finished: tuple[Path, CycleSummary, list[str]], tmp_path: Path
) -> None:
    """Kill -9 after the last play: scores, decisions, dataset and summary are made from what is stored."""
    import asyncio

    from prefect import flow

    home = tmp_path / "home"
    shutil.copytree(finished[0], home)
    for table in ("scores", "decisions", "summaries", "datasets", "dataset_rows"):
        shutil.rmtree(home / "catalog" / table)
    shutil.rmtree(home / "datasets")
    silent = ScriptedModel(AssertionError("the model was asked for what is stored"))

    @flow(name="cycle-finished-later")
    async def finish() -> CycleSummary:
        async with parts_with(silent, home) as parts:
            return await finish_cycle(parts, next_cycle(parts))

    again = asyncio.run(finish())
    before = finished[1]
    assert (again.dataset_id, again.rows, again.episodes) == (before.dataset_id, before.rows, before.episodes)
    assert (again.regret, again.win_rate_plain) == (before.regret, before.win_rate_plain)


class Forgetful(WholeFactoryModel):
    """Takes no request of one role: its prompts are longer than the context."""

    def __init__(self, role: Role) -> None:
        super().__init__()
        self.role = role

    async def complete(self, request: Request) -> Completion:
        if request.role is self.role:
            raise TooLong("The conversation does not fit the engine's context.", "Raise model.context.")
        return await super().complete(request)


def test_an_environment_whose_hint_cannot_be_asked_for_is_played_without_one(
    prefect_server: None, tmp_path: Path
) -> None:
    summary = _cycle_with(Forgetful(Role.HINT), tmp_path, cycle__slots=1)

    catalog = Catalog(tmp_path)
    hints = list(catalog.hints())
    assert [hint.rejected_by for hint in hints] == ["hint.answered"] * 3
    assert "context" in hints[0].verdicts[0].message
    assert (summary.accepted, summary.episodes, summary.regret) == (1, 4, None)


def test_a_design_that_cannot_be_asked_for_costs_its_slot_and_not_the_run(prefect_server: None, tmp_path: Path) -> None:
    summary = _cycle_with(Forgetful(Role.DESIGNER), tmp_path, cycle__slots=1)

    assert (summary.accepted, summary.dropped, summary.attempts) == (0, 1, 6)
    assert summary.rejections == (("form.answered", 6),)


def _cycle_with(model: Model, home: Path, **flags: Any) -> CycleSummary:
    import asyncio

    from prefect import flow

    @flow(name="cycle-of-a-forgetful-model")
    async def cycle() -> CycleSummary:
        async with parts_with(model, home, **flags) as parts:
            return await finish_cycle(parts, next_cycle(parts))

    return asyncio.run(cycle())


def test_a_model_that_never_writes_a_program_ends_with_a_funnel_that_says_so(
    prefect_server: None, tmp_path: Path
) -> None:
    import asyncio

    from prefect import flow

    @flow(name="cycle-without-programs")
    async def cycle() -> CycleSummary:
        async with parts_with(ScriptedModel("I would rather not."), tmp_path, cycle__slots=2) as parts:
            return await finish_cycle(parts, next_cycle(parts))

    summary = asyncio.run(cycle())
    assert (summary.accepted, summary.dropped, summary.attempts) == (0, 2, 12)
    assert summary.rejections == (("form.parse", 12),)
    assert (summary.rows, summary.dataset_id, summary.regret, summary.win_rate_plain) == (0, "", None, None)
    assert (tmp_path / "report" / "index.html").exists()
    assert not (tmp_path / "datasets").exists()
