"""Retention: what goes, what stays, and that what lost something never gets into a dataset or an update."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.disk import disk_by_folder, disk_bytes
from data.expiry import EXPIRED, expire
from data.integrity import breaches
from data.selection import select
from data.sweeping import DAY, sweep
from spade.curation import Pool
from spade.operating_settings import RetentionSettings
from tests.report.worlds import World

KEPT = "episode_id in (select episode_id from dataset_rows)"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Three finished cycles and one under way."""
    catalog = Catalog(tmp_path)
    world = World(catalog, plays=4)
    for number in range(3):
        world.cycle(number)
    world.cycle(3, finished=False)
    yield catalog
    catalog.close()


def count(catalog: Catalog, sql: str) -> int:
    return int(catalog.query(f"select count(*) as n from {sql}")[0]["n"])


def test_only_old_finished_cycles_lose_what_no_dataset_names(catalog: Catalog) -> None:
    newest = catalog.summaries()[-1].cycle_id
    running = next(c.cycle_id for c in catalog.cycles() if c.number == 3)
    plays, whole = count(catalog, "episodes"), count(catalog, "episodes where len(turns) > 0")

    gone = expire(catalog, RetentionSettings(transcripts_cycles=1, attempts_cycles=1))

    assert gone["transcripts"] > 0
    assert gone["replies"] > 0
    assert count(catalog, "episodes") == plays
    assert count(catalog, "episodes where len(turns) > 0") < whole
    for kept in (KEPT, f"cycle_id = '{newest}'", f"cycle_id = '{running}'"):
        assert count(catalog, f"episodes where {kept} and list_contains(blemishes, '{EXPIRED}')") == 0
    assert count(catalog, "attempts where accepted and text = ''") == 0
    assert breaches(catalog) == []


def test_what_expired_is_marked_and_keeps_its_figures(catalog: Catalog) -> None:
    before = catalog.query("select sum(prompt_tokens) as t, sum(n_turns) as n, sum(won::int) as w from episodes")
    expire(catalog, RetentionSettings(transcripts_cycles=1, attempts_cycles=None))

    rows = catalog.query(f"select turns, system, n_turns from episodes where list_contains(blemishes, '{EXPIRED}')")
    assert rows
    assert all(row["turns"] == [] and row["system"] == "" for row in rows)
    assert any(row["n_turns"] > 0 for row in rows)
    assert before == catalog.query(
        "select sum(prompt_tokens) as t, sum(n_turns) as n, sum(won::int) as w from episodes"
    )
    read = {e.episode_id: e for e in catalog.episodes()}
    assert len(read) == count(catalog, "episodes")


def test_expiring_twice_changes_nothing_and_selections_stay(catalog: Catalog) -> None:
    settings = RetentionSettings(transcripts_cycles=1, attempts_cycles=1)
    before = select(catalog, [Pool.POSITIVE])
    expire(catalog, settings)

    assert expire(catalog, settings) == {"transcripts": 0, "replies": 0}
    assert select(catalog, [Pool.POSITIVE]).digest == before.digest


def test_readers_of_another_process_see_one_row_an_episode_meanwhile(catalog: Catalog, tmp_path: Path) -> None:
    other = Catalog(tmp_path)
    plays = count(other, "episodes")
    expire(catalog, RetentionSettings(transcripts_cycles=1))
    assert count(other, "episodes") == plays
    other.close()


def test_files_past_their_time_go(tmp_path: Path) -> None:
    old, young = tmp_path / "prefect" / "storage" / "old", tmp_path / "prefect" / "storage" / "young"
    page = tmp_path / "report" / "cycles" / "cycle-a" / "index.html"
    newer = tmp_path / "report" / "cycles" / "cycle-b" / "index.html"
    log = tmp_path / "logs" / "run.log"
    for path in (old, young, page, newer, log):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one line\n")
    log.write_text("".join(f"line {i}\n" for i in range(300_000)))
    os.utime(old, (time.time() - 20 * DAY,) * 2)

    gone = sweep(tmp_path, RetentionSettings(reports_cycles=1, logs_mb=1), ["cycle-a", "cycle-b"])

    assert gone == {"cached verdicts": 1, "report pages": 1, "logs": gone["logs"], "leftovers": 0}
    assert not old.exists()
    assert not page.exists()
    assert young.exists()
    assert newer.exists()
    assert log.stat().st_size <= 2**20
    assert log.read_text().endswith("line 299999\n")
    assert log.read_text().startswith("line ")


def test_disk_use_is_that_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "file").write_bytes(os.urandom(10_000))

    assert 10_000 <= disk_bytes(tmp_path) < 30_000
    assert list(disk_by_folder(tmp_path)) == ["catalog"]


def test_a_catalog_with_a_lost_table_is_not_whole(catalog: Catalog) -> None:
    assert breaches(catalog) == []
    for segment in catalog.engine.segments["environments"].live():
        segment.path.unlink()
    catalog.engine.forget()

    rules = [breach.rule for breach in breaches(catalog)]
    assert "each accepted attempt has its environment" in rules
