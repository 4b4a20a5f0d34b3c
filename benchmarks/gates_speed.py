"""How many programs a second the gates judge, stage by stage, over processes that each have a sandbox of their own.

Run by `benchmarks/gates.py`; as a program it is one of those processes: SECONDS STAGES.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.gates_programs import medium_programs
from sandbox.opening import open_sandbox
from spade.gates import examine, judging
from spade.gates.form import FORM_GATES
from spade.gates.probe import Seat, close_all
from spade.gates.source import read_source, setting_of
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings, SandboxSettings
from spade.skills import Setting
from spade.verdicts import first_failure

LIMITS = Limits(wall_seconds=1.0, cpu_seconds=10.0)
TOGETHER = 4


async def many(jobs: Sequence[Callable[[], Awaitable[Any]]], together: int = TOGETHER) -> list[Any]:
    room = asyncio.Semaphore(together)

    async def one(job: Callable[[], Awaitable[Any]]) -> Any:
        async with room:
            return await job()

    return list(await asyncio.gather(*map(one, jobs)))


async def verdict_on(
    code: str, sandbox: Sandbox, limits: Limits = LIMITS, gates: GateSettings | None = None
) -> tuple[str, str]:
    """The gate that stops a program, and its message; two empty texts when none does."""
    judged = await examine(code, setting_of(code), sandbox, limits, gates or GateSettings())
    failure = first_failure(judged.verdicts)
    return (failure.gate, failure.message) if failure else ("", "")


def form_rate(codes: Sequence[str], seconds: float) -> float:
    """Programs a second through the form gates, in one process."""
    began, judged = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for code in codes:
            source = read_source(code)
            for gate in FORM_GATES:
                gate(source, Setting.GAMES, GateSettings())
        judged += len(codes)
    return judged / (time.perf_counter() - began)


async def full_reports(sandbox: Sandbox, codes: Sequence[str]) -> float:
    """Milliseconds of one full report alone, the median over the programs."""
    alone = []
    for code in codes:
        began = time.perf_counter()
        await examine(code, setting_of(code), sandbox, Limits(), GateSettings(), full=True)
        alone.append(time.perf_counter() - began)
    return 1000 * median(alone)


async def only_cells(code: str, sandbox: Sandbox) -> tuple[str, str]:
    """Start, load and end a program's two processes, and play nothing: what no way of judging can do without."""
    seats = [Seat(sandbox, code, Limits(), number) for number in (0, 1)]
    await asyncio.gather(*(seat.open() for seat in seats))
    await close_all(seats)
    return "", ""


async def worker(seconds: float, stages: int) -> None:
    """One process's share of the speed measurement: prints programs a second through so many stages of plays."""
    games = judging.STAGES[Setting.GAMES]
    judging.STAGES = {Setting.GAMES: games[:stages]}
    codes = medium_programs()
    async with open_sandbox(SandboxSettings()) as sandbox:
        fresh = count()

        def jobs() -> list[Callable[[], Awaitable[Any]]]:
            """Programs that were not seen before: by a comment, and so by the seeds they are judged on."""
            new = [f"{code}\n# {next(fresh)}\n" for code in codes]
            judge = partial(verdict_on, limits=Limits()) if stages else only_cells
            return [lambda c=c: judge(c, sandbox) for c in new]  # type: ignore[misc]

        assert not any(gate for gate, _ in await many(jobs()))
        began, judged = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            await many(jobs())
            judged += len(codes)
        print(judged / (time.perf_counter() - began))


def rate(processes: int, seconds: float, stages: int) -> float:
    """Programs a second over so many processes, each with its own sandbox."""
    command = [sys.executable, __file__, str(seconds), str(stages)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return sum(float(process.communicate()[0]) for process in running)


if __name__ == "__main__":
    asyncio.run(worker(float(sys.argv[1]), int(sys.argv[2])))
