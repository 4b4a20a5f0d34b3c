"""Prefect's database stays bounded: what finished long ago leaves it, with all that belongs to it."""

import sqlite3
import time
from pathlib import Path

import pytest
from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.prefect_server import flush_prefect, kept_for, prefect_server

TABLES = ("flow_run", "task_run", "flow_run_state", "task_run_state", "artifact", "log", "events")
SOON = "2"
"""Seconds between two rounds of the server's housekeeping."""


@task
def work() -> int:
    return 1


@flow
def small() -> int:
    create_markdown_artifact("A page.", key="page")
    return work()


def counted(database: Path) -> dict[str, int]:
    connection = sqlite3.connect(database, timeout=20)
    found = {t: connection.execute(f"select count(*) from {t}").fetchone()[0] for t in TABLES}
    connection.close()
    return found


def made_older(database: Path) -> None:
    """Three days, by hand."""
    connection = sqlite3.connect(database, timeout=20)
    for column in ("start_time", "end_time", "created", "updated", "expected_start_time"):
        connection.execute(f"update flow_run set {column} = datetime({column}, '-3 days')")
    connection.execute("update events set occurred = datetime(occurred, '-3 days')")
    connection.commit()
    connection.close()


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_finished_runs_leave_the_database_of_a_run_s_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PREFECT_API_URL", "PREFECT_HOME", "PREFECT_LOCAL_STORAGE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_SERVER_SERVICES_DB_VACUUM_LOOP_SECONDS", SOON)
    monkeypatch.setenv("PREFECT_SERVER_SERVICES_DB_VACUUM_ORPHAN_CLEANUP_LOOP_SECONDS", SOON)
    database = tmp_path / "prefect" / "prefect.db"

    with prefect_server(tmp_path, days=1) as address, temporary_settings({PREFECT_API_URL: address}):
        for _ in range(3):
            small()
        flush_prefect()
        time.sleep(3)  # task runs are written in batches
        made = counted(database)
        made_older(database)
        end = time.monotonic() + 60
        while any(counted(database).values()) and time.monotonic() < end:
            time.sleep(1)
        left = counted(database)

    assert min(made.values()) >= 3, made
    assert not any(left.values()), left


def test_nothing_is_dropped_where_runs_are_kept() -> None:
    assert kept_for(0) == {}
