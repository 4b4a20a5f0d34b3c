"""People answer a paused run's form, as the UI does it, and their verdicts are stored."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from data.catalog import Catalog
from data.export import export_sft
from data.reviewing import waiting_for
from data.tables import REVIEWS
from flows import review as flow_module
from spade.errors import Abort
from tests.data.records import chain

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    catalog = Catalog(home)
    chain(catalog)
    export_sft(catalog, home, name="first")
    catalog.close()
    return home


async def paused(name: str, seen: set[str]) -> tuple[Any, dict[str, Any], str]:
    """The paused run once it shows a form that was not answered before: its id, the form's schema, the page."""
    from prefect.client.orchestration import get_client
    from prefect.input.run_input import keyset_from_paused_state

    async with get_client() as client:
        for _ in range(300):
            for run in await client.read_flow_runs():
                if run.name == name and run.state and run.state.is_paused():
                    keys = keyset_from_paused_state(run.state)
                    if keys["schema"] not in seen:
                        seen.add(keys["schema"])
                        read = [await client.read_flow_run_input(run.id, keys[k]) for k in ("schema", "description")]
                        import json

                        return run.id, json.loads(read[0]), json.loads(read[1])
            await asyncio.sleep(0.1)
    raise AssertionError("no form appeared")


async def answered(run_id: Any, **said: Any) -> None:
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        await client.resume_flow_run(run_id, run_input=said)


async def test_a_paused_run_shows_the_row_and_stores_what_its_form_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_module, "POLL_SECONDS", 0.2)
    running = asyncio.create_task(flow_module.review(rows=2, reviewer="ada", home=str(home)))
    seen: set[str] = set()
    pages = []
    for number, correct in enumerate((True, False)):
        run_id, schema, page = await paused("review 2 rows", seen)
        assert set(schema["properties"]) == {"correct", "style", "grounding", "comment", "reviewer"}
        assert schema["properties"]["style"]["maximum"] == 5
        assert schema["properties"]["reviewer"]["default"] == "ada"
        pages.append(page)
        await answered(run_id, correct=correct, style=4, grounding=5 - number, comment="well put", reviewer="ada")
    ended = await asyncio.wait_for(running, 60)

    assert (ended["reviewed"], ended["waiting"]) == (2, 0)
    assert "Guess a number" in "".join(pages)
    catalog = Catalog(home)
    assert [(r.reviewer, r.correct, r.style, r.grounding) for r in catalog.read(REVIEWS)] == [
        ("ada", True, 4, 5), ("ada", False, 4, 4),
    ]  # fmt: skip
    assert not waiting_for(catalog, "ada")
    assert len(waiting_for(catalog, "ben")) == 2
    catalog.close()


async def test_without_a_catalog_there_is_nothing_to_review(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="no catalog"):
        await flow_module.review(home=str(tmp_path / "nothing"))
