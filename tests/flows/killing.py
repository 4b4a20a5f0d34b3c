"""Seeded kills of a factory at work, and what must hold after each. Used by the test and by `benchmarks/killing.py`."""

import asyncio
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from data.catalog import Catalog
from data.integrity import breaches
from flows.prefect_server import free_port, start_server, stop_server, wait_until_healthy
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import ROOT, FactoryEndpoint, left_behind

SEGMENTS_BETWEEN = (1, 40)
"""A kill comes after so many newly stored files: anywhere from the first plan to the next cycle's plays."""
MOST_MILLISECONDS = 40
"""And up to this much later, so that it falls between two files too."""
VICTIMS = ("flow",) * 8 + ("sandbox", "server")
"""Mostly the flow; now and then the sandbox's fork servers or Prefect's server, which the flow has to survive."""
WAIT_SECONDS = 120.0


@dataclass
class Tally:
    """What was seen: seconds from each kill to the next stored file, by victim; and everything that was wrong."""

    recoveries: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return sum(map(len, self.recoveries.values()))


class Bench:
    """One home with a Prefect server of its own, a stub endpoint, and runs that are killed one after the other."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.home = folder, folder / "home" / "var"
        self.rng = random.Random(seed)
        self.port = free_port()
        self.tally = Tally()

    async def kill_often(self, kills: int) -> Tally:
        """`kills` kills at seeded points, then one run that is left to finish what is under way."""
        self.home.parent.mkdir(parents=True)
        self._serve()
        try:
            async with FakeEndpoint(FactoryEndpoint(pause=0.01)) as fake:
                run = await self._run(fake.base_url, cycles=10_000)
                for number in range(kills):
                    await self._until_stored(self.rng.randint(*SEGMENTS_BETWEEN), run)
                    await asyncio.sleep(self.rng.random() * MOST_MILLISECONDS / 1000)
                    run = await self._kill(self.rng.choice(VICTIMS), run, fake.base_url, number)
                run.kill()
                await run.wait()
                last = await self._run(fake.base_url, cycles=1)
                if await asyncio.wait_for(last.wait(), 300):
                    self.tally.wrong.append("the run after the last kill failed")
                self._look("the end", set())
        finally:
            stop_server(self.server)
        return self.tally

    def _serve(self) -> None:
        self.server = start_server(self.folder / "server", self.port, ui=False)
        wait_until_healthy(self.server, f"http://127.0.0.1:{self.port}/api", self.folder / "server")

    async def _run(self, base_url: str, *, cycles: int) -> asyncio.subprocess.Process:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
        sizes = ["--slots", "2", "--plays", "2", "--cycles", str(cycles)]
        with (self.folder / "run.log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "flows.cli", "run", "--profile", "default", "--base-url", base_url, *sizes),
                cwd=self.home.parent,
                env={
                    **kept,
                    "PYTHONPATH": str(ROOT),
                    "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
                    "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
                    "SPADE_ALARMS__MIN_VENDI": "0",
                    "PREFECT_API_URL": f"http://127.0.0.1:{self.port}/api",
                    "PREFECT_CLIENT_MAX_RETRIES": "8",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def _kill(
        self, victim: str, run: asyncio.subprocess.Process, base_url: str, number: int
    ) -> asyncio.subprocess.Process:
        known, before = self._episodes(), self._stored()
        killed = time.monotonic()
        if victim == "flow":
            run.kill()
            await run.wait()
            self._look(f"kill {number}", known)
            killed = time.monotonic()
            behind = await self._left_behind(run.pid)
            self.tally.wrong += [f"kill {number} left {words[:120]}" for words in behind]
            run = await self._run(base_url, cycles=10_000)
        elif victim == "server":
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
            self._serve()
        else:
            _kill_fork_servers(run.pid)
        await self._until_stored(1, run, since=before)
        self.tally.recoveries.setdefault(victim, []).append(time.monotonic() - killed)
        self._look(f"kill {number} ({victim})", known)
        return run

    async def _left_behind(self, session: int) -> list[str]:
        """Processes of the killed run that do not end by themselves within two seconds."""
        for _ in range(20):
            if not left_behind(session):
                return []
            await asyncio.sleep(0.1)
        return left_behind(session)

    def _look(self, when: str, known: set[str]) -> None:
        catalog = Catalog(self.home)
        try:
            self.tally.wrong += [f"{when}: {breach}" for breach in breaches(catalog)]
            rows = [row["episode_id"] for row in catalog.query("select episode_id from episodes")]
        finally:
            catalog.close()
        if len(rows) != len(set(rows)):
            self.tally.wrong.append(f"{when}: an episode is stored twice")
        if not known <= set(rows):
            self.tally.wrong.append(f"{when}: {len(known - set(rows))} episodes were lost")

    def _episodes(self) -> set[str]:
        catalog = Catalog(self.home)
        try:
            return {row["episode_id"] for row in catalog.query("select episode_id from episodes")}
        finally:
            catalog.close()

    def _stored(self) -> int:
        return sum(len(files) for _, _, files in os.walk(self.home / "catalog"))

    async def _until_stored(self, more: int, run: asyncio.subprocess.Process, since: int | None = None) -> None:
        wanted = (self._stored() if since is None else since) + more
        deadline = time.monotonic() + WAIT_SECONDS
        while self._stored() < wanted:
            if run.returncode is not None or time.monotonic() > deadline:
                raise AssertionError(f"the run stores nothing more; see {self.folder / 'run.log'}")
            await asyncio.sleep(0.005)


def _kill_fork_servers(session: int) -> None:
    """Kill the sandbox's processes of a run: those of its session other than the run itself."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if b"zygote" in words and int(fields[3]) == session:
            os.kill(int(entry.name), signal.SIGKILL)
