"""Four writers, two readers and a compactor on one catalog, some of them killed: nothing lost, nothing doubled."""

import multiprocessing
import os
import resource
import signal
import time
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from data.catalog import Catalog
from spade.errors import Abort
from tests.data.records import episode

SPAWN = multiprocessing.get_context("spawn")
APPENDS, SHARED = 25, 3


def write(home: Path, writer: int, log: Path) -> None:
    """Append small batches, some of which every writer stores; note each one once the catalog said it is stored."""
    catalog = Catalog(home)
    with log.open("w") as acknowledged:
        for number in range(APPENDS):
            batch = [episode("cycle-0", f"env-{writer}", play) for play in range(4 * number, 4 * number + 4)]
            batch += [episode("cycle-1", "env-shared", number % SHARED)]
            catalog.append("episodes", batch)
            acknowledged.writelines(f"{e.episode_id}\n" for e in batch)
            acknowledged.flush()
            time.sleep(0.01)


def read(home: Path, done: Event, log: Path) -> None:
    """Ask again and again; what was seen once must stay, and nothing may be there twice."""
    catalog, seen, asked = Catalog(home), set[str](), 0
    while not done.is_set() or not asked:
        ids = [row["episode_id"] for row in catalog.query("select episode_id from episodes")]
        of_one = [e.episode_id for e in catalog.episodes(cycle_id="cycle-1")]
        assert len(ids) == len(set(ids)), "doubled"
        assert len(of_one) == len(set(of_one)) <= SHARED, "doubled in a part"
        assert seen <= set(ids), "lost"
        seen, asked = set(ids), asked + 1
    log.write_text(str(asked))


def compact(home: Path, done: Event) -> None:
    catalog, last = Catalog(home), False
    while not last:
        last = done.is_set()
        catalog.compact("episodes", grace_seconds=2.0)
        time.sleep(0.02)


def started(target: object, *arguments: object) -> BaseProcess:
    process = SPAWN.Process(target=target, args=arguments)  # type: ignore[arg-type]
    process.start()
    return process


def test_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    home, done = tmp_path / "home", SPAWN.Event()
    logs = [tmp_path / f"writer-{i}" for i in range(4)]
    counts = [tmp_path / f"reader-{i}" for i in range(2)]
    readers = [started(read, home, done, count) for count in counts]
    compactors = [started(compact, home, done)]
    writers = [started(write, home, i, log) for i, log in enumerate(logs)]
    until = time.monotonic() + 60
    while time.monotonic() < until and not all(log.exists() and log.stat().st_size for log in logs):
        time.sleep(0.05)

    os.kill(writers[0].pid or 0, signal.SIGKILL)
    os.kill(compactors[0].pid or 0, signal.SIGKILL)
    compactors.append(started(compact, home, done))
    for writer in writers:
        writer.join(60)
    done.set()
    for process in (*readers, *compactors):
        process.join(60)

    assert [w.exitcode for w in writers] == [-signal.SIGKILL, 0, 0, 0]
    assert [r.exitcode for r in readers] == [0, 0]
    assert compactors[1].exitcode == 0
    assert all(int(count.read_text()) > 0 for count in counts)
    assert list((home / "catalog" / "episodes").glob("*.merged.parquet"))
    stored = [row["episode_id"] for row in Catalog(home).query("select episode_id from episodes")]
    acknowledged = {line for log in logs for line in log.read_text().split("\n") if len(line) == len("ep-") + 16}
    assert len(stored) == len(set(stored))
    assert acknowledged <= set(stored)
    assert len(acknowledged) >= 3 * 4 * APPENDS + SHARED
    catalog = Catalog(home)
    catalog.compact()
    assert {row["episode_id"] for row in catalog.query("select episode_id from episodes")} == set(stored)


def fill_up(home: Path) -> None:
    """A file size limit stands in for a full disk: writing fails in the middle of the file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    with pytest.raises(Abort, match="larger than this process may write"):
        Catalog(home).append("episodes", [episode(play=i) for i in range(500)])


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    Catalog(tmp_path).append("episodes", [episode()])
    process = started(fill_up, tmp_path)
    process.join(60)
    assert process.exitcode == 0
    assert len(list((tmp_path / "catalog" / "episodes").iterdir())) == 1
    assert Catalog(tmp_path).episodes() == [episode()]
