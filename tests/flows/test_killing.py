"""Kill -9 in the middle and run again: the cycle is finished, no episode lost or made twice, no process left."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from data.catalog import Catalog
from data.memory import open_memory
from spade.messages import Message, Request, Role, Sampling
from spade.settings import MemorySettings
from tests.fakes import WholeFactoryModel
from tests.fakes_endpoint import FakeEndpoint, Response, text
from tests.fakes_store import KEYS, s3

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
SLOTS, PLAYS = 3, 4


class FactoryEndpoint:
    """`WholeFactoryModel` behind HTTP. The role is told from what is asked; `pause` seconds pass before each answer."""

    def __init__(self, pause: float) -> None:
        self._model = WholeFactoryModel()
        self._pause = pause

    def __call__(self, body: dict[str, Any]) -> Response:
        messages = tuple(Message(m["role"], m["content"]) for m in body["messages"])
        said = text(self._model.answer(Request(messages, Sampling(), self._role(messages))))
        return Response(said.status, said.body, said.headers, hang=self._pause)

    def _role(self, messages: tuple[Message, ...]) -> Role:
        asked = "\n".join(m.content for m in messages if m.role == "user")
        if "Write a hint for a player" in asked:
            return Role.HINT
        return Role.DESIGNER if "```python" in asked or "class " in asked else Role.AGENT


async def started(home: Path, base_url: str, **environment: str) -> asyncio.subprocess.Process:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    sizes = ["--slots", str(SLOTS), "--plays", str(PLAYS)]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flows.cli", "run", "--profile", "default", "--base-url", base_url, *sizes),
        cwd=home,
        env={
            **kept,
            "PYTHONPATH": str(ROOT),
            "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
            "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
            **environment,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


async def until_chats(fake: FakeEndpoint, count: int, run: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(200):
            while len(fake.chats) < count:
                await asyncio.sleep(0.02)
    except TimeoutError:
        os.kill(run.pid, signal.SIGKILL)
        pytest.fail(f"only {len(fake.chats)} of {count} calls were made")


def stored_episodes(home: Path) -> list[str]:
    catalog = Catalog(home / "var")
    try:
        return sorted(row["episode_id"] for row in catalog.query("select episode_id from episodes"))
    finally:
        catalog.close()


def left_behind(session: int) -> list[str]:
    """Processes whose command line names a driver, server or run of this session's leader."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session or f" {session} server start" in words:
            found.append(words)
    return found


@pytest.mark.parametrize("chats", [4, 20, 45])
async def test_a_killed_run_is_finished_by_the_next_one(tmp_path: Path, chats: int) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=0.05)) as fake:
        first = await started(tmp_path, fake.base_url)
        await until_chats(fake, chats, first)
        os.kill(first.pid, signal.SIGKILL)
        await first.wait()
        before = stored_episodes(tmp_path)
        await asyncio.sleep(2.0)
        assert left_behind(first.pid) == []

        second = await started(tmp_path, fake.base_url)
        output, _ = await asyncio.wait_for(second.communicate(), 300)

    assert second.returncode == 0, output.decode()
    after = stored_episodes(tmp_path)
    assert len(after) == len(set(after)) == 2 * SLOTS * PLAYS
    assert set(before) <= set(after)
    catalog = Catalog(tmp_path / "var")
    assert [s.number for s in catalog.summaries()] == [0]
    assert {s.slots for s in catalog.summaries()} == {SLOTS}
    rows = catalog.query("select count(*) as n, count(distinct slot_id || number) as d from attempts")[0]
    assert rows["n"] == rows["d"]
    catalog.close()


def own_server(run: int) -> int:
    """The Prefect server that a run started."""
    words = f" {run} server start"
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            said = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if words in said:
            return int(entry.name)
    raise AssertionError("the run has no server")


async def test_a_run_outlives_the_death_of_its_server(tmp_path: Path) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=0.3)) as fake:
        run = await started(tmp_path, fake.base_url)
        await until_chats(fake, 10, run)
        killed = time.monotonic()
        os.killpg(own_server(run.pid), signal.SIGKILL)
        output, _ = await asyncio.wait_for(run.communicate(), 300)

    print(f"finished {time.monotonic() - killed:.1f} s after the kill")
    assert run.returncode == 0, output.decode()
    assert len(stored_episodes(tmp_path)) == 2 * SLOTS * PLAYS
    assert "is started again" in (tmp_path / "var" / "logs" / "run.log").read_text()
    assert left_behind(run.pid) == []


async def test_a_server_that_dies_again_and_again_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=3.0)) as fake:
        run = await started(tmp_path, fake.base_url)
        await until_chats(fake, 3, run)
        killed = time.monotonic()
        while run.returncode is None and time.monotonic() - killed < 120:
            with contextlib.suppress(AssertionError, OSError):
                os.killpg(own_server(run.pid), signal.SIGKILL)
            await asyncio.sleep(0.1)
        output, _ = await asyncio.wait_for(run.communicate(), 60)

    print(f"ended {time.monotonic() - killed:.1f} s after the first kill")
    assert run.returncode == 2, output.decode()
    assert "Prefect's server failed" in output.decode()
    assert "The same command goes on" in output.decode()
    assert "Traceback" not in output.decode()


async def test_a_run_killed_on_one_machine_is_finished_on_another_one_that_shares_its_store(tmp_path: Path) -> None:
    homes = tmp_path / "one", tmp_path / "other"
    for home in homes:
        home.mkdir()
    with s3() as store:
        environment = {**KEYS, "SPADE_STORE__URL": store.url or "", "SPADE_STORE__ENDPOINT": store.endpoint or ""}
        async with FakeEndpoint(FactoryEndpoint(pause=0.05)) as fake:
            first = await started(homes[0], fake.base_url, **environment)
            await until_chats(fake, 20, first)
            os.kill(first.pid, signal.SIGKILL)
            await first.wait()
            before = Catalog(tmp_path / "looker", store).query("select episode_id from episodes")
            second = await started(homes[1], fake.base_url, **environment)
            output, _ = await asyncio.wait_for(second.communicate(), 300)
        assert second.returncode == 0, output.decode()
        catalog = Catalog(tmp_path / "looker", store)
        after = [row["episode_id"] for row in catalog.query("select episode_id from episodes")]
        assert len(after) == len(set(after)) == 2 * SLOTS * PLAYS
        assert {row["episode_id"] for row in before} <= set(after)
        assert [s.number for s in catalog.summaries()] == [0]
        assert open_memory(MemorySettings(), tmp_path / "looker", store).describe().startswith(f"{SLOTS} environments")


async def test_ctrl_c_stops_within_seconds_and_says_how_to_go_on(tmp_path: Path) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=0.2)) as fake:
        run = await started(tmp_path, fake.base_url)
        await until_chats(fake, 10, run)
        stopped = time.monotonic()
        os.kill(run.pid, signal.SIGINT)
        output, _ = await asyncio.wait_for(run.communicate(), 60)

    assert run.returncode == 130, output.decode()
    assert "Traceback" not in output.decode()
    assert "The same command goes on" in output.decode()
    assert time.monotonic() - stopped < 30
    assert left_behind(run.pid) == []
