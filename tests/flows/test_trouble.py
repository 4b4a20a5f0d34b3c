"""What goes wrong with disk, database, server and clock is one sentence with its remedy, and nothing is lost by it."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from data.catalog import Catalog
from data.integrity import breaches
from data.sweeping import sweep
from flows.prefect_server import start_prefect
from flows.reasons import STARTED, explained, from_log, plainly, room, server_log
from spade.errors import Abort, Skip
from spade.operating_settings import RetentionSettings
from tests.data.records import chain
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_bad_input import refused, spade
from tests.flows.test_killing import ROOT, FactoryEndpoint

IN_A_SMALL_FOLDER = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'


def said(home: Path, *lines: str) -> None:
    server_log(home).parent.mkdir(parents=True, exist_ok=True)
    server_log(home).write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("words", "trouble", "remedy"),
    [
        ("sqlite3.OperationalError: database is locked", "locked", "Stop the other process"),
        ("sqlite3.OperationalError: database or disk is full", "disk is full", "Free some space"),
        ("OSError: [Errno 28] No space left on device", "disk is full", "Free some space"),
        ("attempt to write a readonly database", "cannot be written", "permissions"),
        ("alembic: Can't locate revision identified by 'abc'", "newer version", "Install that version"),
        ("FATAL: password authentication failed for user", "password", "DATABASE_CONNECTION_URL"),
        ("OSError: Multiple exceptions: [Errno 111] Connect call failed", "does not answer", "Start it"),
    ],
)
def test_the_servers_last_words_become_a_remedy(tmp_path: Path, words: str, trouble: str, remedy: str) -> None:
    said(tmp_path, f"{STARTED}server start", "Traceback ...", words)
    found = from_log(tmp_path)

    assert found is not None
    assert trouble in found[0]
    assert remedy in found[1]


def test_words_of_an_earlier_server_are_not_blamed(tmp_path: Path) -> None:
    said(tmp_path, f"{STARTED}server start", "database is locked", f"{STARTED}server start", "all well")
    assert from_log(tmp_path) is None


def test_an_error_that_nobody_foresaw_goes_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), plainly(tmp_path):
        raise ZeroDivisionError
    with pytest.raises(Skip), plainly(tmp_path):
        raise Skip("this one")


def test_a_server_that_went_away_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Abort, match=r"Prefect's server failed: it does not answer.*goes on where"), plainly(tmp_path):
        raise httpx.ConnectError("refused")


def test_a_full_disk_below_other_errors_is_found(tmp_path: Path) -> None:
    error = RuntimeError("task failed")
    error.__cause__ = OSError(28, "No space left on device")
    found = explained(error, tmp_path)
    assert isinstance(found, Abort)
    assert "disk is full" in str(found)


def test_a_server_begins_its_words_anew(tmp_path: Path) -> None:
    process = start_prefect(["version"], server_log(tmp_path), {})
    assert process.wait(60) == 0
    assert server_log(tmp_path).read_text().startswith(f"{STARTED}version\n")


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
def test_a_disk_with_hardly_any_room_is_refused_before_anything_starts(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    command = [sys.executable, "-m", "flows.cli", "maintain", "--home", str(place)]
    done = mounted(place, "4m", command)

    refused(done, "disk that holds", "is full", "--home")


def test_room_is_asked_of_the_disk_of_the_folder(tmp_path: Path) -> None:
    room(tmp_path)


def mounted(place: Path, size: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command with a small file system at `place`, seen by it alone."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    ours = {
        "PYTHONPATH": str(ROOT),
        "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
        "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
    }
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", IN_A_SMALL_FOLDER, "sh", size, str(place), *command],
        cwd=place.parent,
        env=kept | ours,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    if done.stderr.startswith(("mount", "unshare")):
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    return done


@pytest.mark.slow
async def test_a_disk_that_fills_up_ends_the_run_with_one_sentence(tmp_path: Path) -> None:
    """The run goes on until a file of somebody else takes the rest of a real file system."""
    place = tmp_path / "small"
    place.mkdir()
    filler = "import sys, time, pathlib, subprocess\n"
    filler += "home = pathlib.Path(sys.argv[1]); run = subprocess.Popen(sys.argv[2:])\n"
    filler += "while not list(home.glob('catalog/episodes/*.parquet')): time.sleep(0.1)\n"
    filler += "try:\n with open(home.parent / 'filler', 'wb') as f:\n  while True: f.write(bytes(65536)); f.flush()\n"
    filler += "except OSError: pass\n"
    filler += "code = run.wait(); (home.parent / 'filler').unlink()\n"
    filler += "from data.catalog import Catalog; from data.integrity import breaches\n"
    filler += "print('rules broken:', len(breaches(Catalog(home)))); sys.exit(code)\n"
    sizes = ["--slots", "3", "--plays", "4", "--cycles", "50"]
    async with FakeEndpoint(FactoryEndpoint(pause=0.0)) as fake:
        run = [sys.executable, "-m", "flows.cli", "run", "--profile", "default", "--base-url", fake.base_url, *sizes]
        command = [sys.executable, "-c", filler, str(place / "var"), *run, "--home", str(place / "var")]
        done = await asyncio.to_thread(mounted, place, "100m", command)

    assert done.returncode == 2, done.stderr[-3000:]
    assert "spade: " in done.stderr
    assert "disk is full" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "rules broken: 0" in done.stdout


@contextmanager
def held(database: Path) -> Iterator[None]:
    """Another process's transaction, as a copy or a second server would have it."""
    database.parent.mkdir(parents=True)
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        connection.execute("create table taken (x)")
        connection.execute("begin exclusive")
        yield
    finally:
        connection.close()


@pytest.mark.timeout(200)
def test_a_locked_database_is_said_to_be_locked(tmp_path: Path) -> None:
    chain(Catalog(tmp_path / "var"))
    with held(tmp_path / "var" / "prefect" / "prefect.db"):
        refused(spade("maintain", cwd=tmp_path), "database is locked", "Stop the other process")


def test_a_clock_that_jumps_deletes_nothing_that_counts(tmp_path: Path) -> None:
    """Files from the future or from long ago: segments stay, whatever their time says."""
    catalog = Catalog(tmp_path)
    for number in range(4):
        chain(catalog, number)
    before, broken = len(catalog.episodes()), breaches(catalog)
    for jump in (400 * 86400.0, -400 * 86400.0):
        for path in tmp_path.rglob("*.parquet"):
            os.utime(path, (time.time() + jump, time.time() + jump))
        catalog.compact()
        sweep(tmp_path, RetentionSettings(), [s.cycle_id for s in catalog.cycles()])
        assert len(catalog.episodes()) == before
        assert breaches(catalog) == broken
    assert len(Catalog(tmp_path).episodes()) == before
