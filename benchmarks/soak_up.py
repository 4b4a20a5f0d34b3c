"""The soak as `spade up` runs it: every run a process of its own, started by the worker; what stays up is measured.

    python benchmarks/soak_up.py [--quick] [--json] [--cycles N] [--run N]

Runs of N cycles of 1 slot and 2 plays an arm follow one another through the deployment `around-the-clock`, with a stub
model over HTTP; `nightly` runs every 100 cycles with retention of 50 cycles. Memory is the resident set of Prefect's
server and of the worker after each run, and the peak of each run's own process.
"""

import argparse
import asyncio
import math
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import memory_of
from benchmarks.reporting import Row, show
from benchmarks.soak import ENVIRONMENT, UPKEEP_EVERY, WARM
from benchmarks.stub_endpoint import stub_endpoint
from data.catalog import Catalog
from data.disk import disk_by_folder
from tests.flows.test_up import Factory, factory_up, processes

PARTS = {"server": "server start", "worker": "worker start", "run": "flows.worker_child"}
"""What stays up, and a run: words of their command lines."""
SIZES = {"profile": "default", "slots": 1, "plays": 2}
LOOK_SECONDS = 0.25
TRIES = 10


@dataclass
class Seen:
    """MiB after so many cycles by part (`run`: its peak), disk after each upkeep, how runs ended."""

    memory: dict[str, dict[int, float]] = field(default_factory=lambda: {part: {} for part in PARTS})
    disk: dict[int, dict[str, float]] = field(default_factory=dict)
    failed: int = 0
    answered: float = 0.0
    """Seconds from the command until `spade up` has printed its address."""
    first: float = math.nan
    """Seconds from the command until the first cycle is stored."""
    seconds: float = 0.0


def part_memory(home: Path, words: str, what: str) -> float:
    return max((memory_of(pid, what) for pid, line in processes(home) if words in line), default=0.0)


async def ended(factory: Factory, run_id: str) -> tuple[str, float]:
    """Wait for a flow run; its state's type, and the peak of its process in MiB."""
    peak, looked = 0.0, 0.0
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        peak = max(peak, part_memory(factory.home, PARTS["run"], "VmHWM"))
        if time.monotonic() - looked > 1:
            looked = time.monotonic()
            state = (await factory.api.get(f"/flow_runs/{run_id}")).json()["state_type"]
            if state in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"):
                return str(state), peak


async def started(factory: Factory, deployment: str, **parameters: Any) -> str:
    """The id of a new run. Prefect's server answers 503 while its database is busy; it is asked again then."""
    found = (await factory.api.get(f"/deployments/name/{deployment}")).json()
    for left in reversed(range(TRIES)):
        try:
            run = await factory.post(f"/deployments/{found['id']}/create_flow_run", parameters=parameters)
            return str(run["id"])
        except httpx.HTTPStatusError as error:
            if error.response.status_code != httpx.codes.SERVICE_UNAVAILABLE or not left:
                raise
            await asyncio.sleep(1)
    raise AssertionError("unreachable")


async def first_stored(home: Path) -> float:
    """The moment (monotonic seconds) at which the first cycle is in the catalog."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not (home / "var" / "catalog").exists():
            continue
        catalog = Catalog(home / "var")
        stored = len(catalog.summaries())
        catalog.close()
        if stored:
            return time.monotonic()


async def soak(home: Path, base_url: str, cycles: int, a_run: int, upkeep_every: int) -> Seen:
    seen, begun = Seen(), time.monotonic()
    async with factory_up(home, **ENVIRONMENT) as factory:
        seen.answered = time.monotonic() - begun
        first = asyncio.create_task(first_stored(home))
        assert factory.process.stdout is not None
        said = asyncio.create_task(factory.process.stdout.read())
        for done in range(a_run, cycles + 1, a_run):
            run_id = await started(
                factory, "generate/around-the-clock", **SIZES, base_url=base_url, cycles=a_run, minutes=None
            )
            state, peak = await ended(factory, run_id)
            seen.failed += state != "COMPLETED"
            seen.memory["run"][done] = peak
            if done % upkeep_every == 0:
                state, _ = await ended(factory, await started(factory, "maintain/nightly", profile="default"))
                seen.failed += state != "COMPLETED"
                seen.disk[done] = {name: size / 2**20 for name, size in disk_by_folder(home / "var").items()}
            for part in ("server", "worker"):
                seen.memory[part][done] = part_memory(home, PARTS[part], "VmRSS")
            told = ", ".join(f"{part} {found[done]:.0f} MiB" for part, found in seen.memory.items())
            print(f"{done} cycles, {told}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        await asyncio.wait({first}, timeout=10 * LOOK_SECONDS)  # all runs have ended: it is there now, or never
        if first.done():
            seen.first = first.result() - begun
        first.cancel()
        seen.seconds = time.monotonic() - begun
        factory.process.send_signal(signal.SIGINT)
        await factory.process.wait()
        await said
    return seen


def rows(seen: Seen, home: Path, cycles: int, warm: int) -> list[Row]:
    catalog = Catalog(home / "var")
    finished, scored = len(catalog.summaries()), len(catalog.scores())
    catalog.close()
    found = [
        Row("cycles finished", finished, "", cycles),
        Row("environments played and scored", scored, "", round(0.95 * cycles)),
        Row("runs", seen.failed, "failed", 0),
        Row("from `spade up` to its address", round(seen.answered, 1), "s"),
        Row("from `spade up` to the first stored cycle, its run asked for at once", round(seen.first, 1), "s", 30),
    ]
    for part, memory in seen.memory.items():
        after = [mib for done, mib in memory.items() if done >= warm]
        drift = 100 * max(abs(mib - after[0]) for mib in after) / after[0]
        name = "peak of a run" if part == "run" else f"resident, {part}"
        found.append(Row(f"{name}, after {warm} cycles", round(after[0], 1), "MiB"))
        found.append(Row(f"{name}, at the end", round(after[-1], 1), "MiB"))
        found.append(Row(f"{name}, largest change", round(drift, 1), "%", 5))
    found.append(Row("a cycle, starts of processes included", round(seen.seconds / cycles, 2), "s"))
    for done, folders in list(seen.disk.items())[-2:]:
        found.append(Row(f"disk after {done} cycles", round(sum(folders.values()), 1), "MiB"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 runs of 2 cycles: says little about memory")
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--run", type=int, default=10, help="cycles a run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    cycles, a_run = (4, 2) if given.quick else (given.cycles, given.run)
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder, stub_endpoint(0.0) as base_url:
        home = Path(folder)
        seen = asyncio.run(soak(home, base_url, cycles, a_run, 4 if given.quick else UPKEEP_EVERY))
        found = rows(seen, home, cycles, a_run if given.quick else WARM)
    show(found, as_lines=not given.json)


if __name__ == "__main__":
    main()
