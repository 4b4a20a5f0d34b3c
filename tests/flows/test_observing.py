"""Running factories tell what they do: a line of JSON an event, and figures for Prometheus, scraped from a real run."""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from data.catalog import Catalog
from flows.generate import generate
from flows.metrics import Metrics, served
from flows.observing import WATCHER
from flows.prefect_server import free_port
from spade.errors import Abort
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import FactoryEndpoint

pytestmark = pytest.mark.usefixtures("prefect_server")
KEY = "sk-a-secret-that-nobody-may-read"


class Scraper:
    """Scrapes once, when the cycle is finished, as Prometheus would: over HTTP, from outside of the loop."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/metrics"
        self.found: dict[tuple[str, ...], float] = {}

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        if stage == "finished":
            with urllib.request.urlopen(self.address, timeout=10) as answer:
                text = answer.read().decode()
            samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
            self.found = {(s.name, *(s.labels[n] for n in sorted(s.labels))): s.value for s in samples}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> tuple[Path, dict[tuple[str, ...], float]]:
    """A cycle of three environments and two plays an arm: its home, and what a scrape at its end said."""
    home, port = tmp_path_factory.mktemp("told") / "var", free_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "SPADE_METRICS__PORT": str(port),
            "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
            "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
            "SPADE_BUDGET__SLICE__EPISODES": "1000",
            "SPADE_API_KEY": KEY,
        }.items():
            patch.setenv(name, value)
        return home, asyncio.run(_scraped(home, Scraper(port)))


async def _scraped(home: Path, scraper: Scraper) -> dict[tuple[str, ...], float]:
    WATCHER.set(scraper)
    async with FakeEndpoint(FactoryEndpoint(pause=0.0)) as fake:
        await generate(profile="default", slots=3, plays=2, base_url=fake.base_url, home=str(home))
        assert any(KEY in seen.headers.get("authorization", "") for seen in fake.seen)
    return scraper.found


def test_a_scrape_tells_what_the_catalog_holds(told: tuple[Path, dict[tuple[str, ...], float]]) -> None:
    home, found = told
    catalog = Catalog(home)
    episodes = catalog.episodes()
    attempts = catalog.attempts()
    catalog.close()

    assert sum(v for k, v in found.items() if k[0] == "spade_episodes_total") == len(episodes) == 12
    won = sum(v for k, v in found.items() if k[0] == "spade_wins_total")
    assert won == sum(bool(e.won) for e in episodes)
    refused = sum(v for k, v in found.items() if k[0] == "spade_refused_attempts_total")
    assert refused == sum(bool(a.rejected_by) for a in attempts)
    assert found["spade_slots_total", "designed"] == 3
    turns = sum(len(e.turns) for e in episodes)
    assert found["spade_model_calls_total", "ok", "agent"] == turns
    assert found["spade_model_call_seconds_count", "agent"] == turns
    assert found["spade_model_calls_open", "agent"] == 0
    assert found["spade_model_calls_at_once",] == 16
    assert found["spade_sandbox_starts_total", "ok"] >= len(episodes)
    assert found["spade_budget_limit", "slice", "episodes"] == 1000
    assert found["spade_budget_used", "slice", "episodes"] == len(episodes)
    assert "spade_event_loop_lag_seconds_count" in {k[0] for k in found}
    assert "spade_sandbox_start_seconds_count" in {k[0] for k in found}


def test_each_line_of_the_log_has_its_ids_and_no_secret(
    told: tuple[Path, dict[tuple[str, ...], float]],
) -> None:
    home, _ = told
    text = (home / "logs" / "events.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    catalog = Catalog(home)
    slots = {s.slot_id for s in catalog.slots()}
    played = {e.episode_id: e.asked.env_id for e in catalog.episodes()}
    catalog.close()

    assert KEY not in text
    assert {line["run_name"] for line in lines} == {"generate default seed 0 x1"}
    assert len({line["run"] for line in lines}) == 1
    assert {"cycle", "designed", "hinted", "episode", "scored", "curated", "finished"} <= {
        line.get("event") for line in lines
    }
    told_of = {line["episode"]: line for line in lines if line.get("event") == "episode"}
    assert {e: line["environment"] for e, line in told_of.items()} == played
    assert {line["slot"] for line in told_of.values()} == slots


async def test_runs_are_found_by_model_and_tasks_by_skill_and_environment(
    told: tuple[Path, dict[tuple[str, ...], float]],
) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterTags, TaskRunFilter, TaskRunFilterName

    catalog = Catalog(told[0])
    chosen = catalog.environments()[0]
    catalog.close()
    async with get_client() as client:
        (run,) = await client.read_flow_runs(
            flow_run_filter=FlowRunFilter(tags=FlowRunFilterTags(all_=["model:m", "profile:default"]))
        )
        names: set[str] = set()
        for _ in range(50):  # task runs reach the server as events
            found = await client.read_task_runs(
                task_run_filter=TaskRunFilter(name=TaskRunFilterName(like_=chosen.env_id))
            )
            names = {t.name.split()[0] for t in found if t.flow_run_id == run.id and chosen.skill.value in t.name}
            if names >= {"hint", "play", "score"}:
                break
            await asyncio.sleep(0.2)
        shown = await client.read_artifacts()

    assert names >= {"hint", "play", "score"}
    assert {f"{chosen.env_id}-lineage", chosen.env_id} <= {artifact.key for artifact in shown}


def test_a_port_that_is_taken_is_named_with_a_remedy() -> None:
    with (
        served(Metrics(calls_at_once=1), 0) as port,
        pytest.raises(Abort, match=rf"port {port}.*metrics\.port"),
        served(Metrics(calls_at_once=1), port),
    ):
        pytest.fail("two listen on one port")


def test_without_a_port_nothing_listens() -> None:
    from flows.configuring import load_settings

    assert load_settings("default").metrics.port is None
