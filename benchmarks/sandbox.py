"""How fast the sandbox is: starts, steps, batches, memory, kills, beside OpenEnv's server and a fresh process each.

    python benchmarks/sandbox.py [--quick] [--json]

Every figure is a median over repeats in one run. OpenEnv is measured where benchmarks/build_openenv.sh has built its
environment, with the same text game. "Fresh process" is bubblewrap and a new interpreter per environment, talking JSON
lines over pipes: the usual way to isolate one program.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reporting import as_json
from benchmarks.sandbox_report import Figures, ratios, rows_of, table
from sandbox.facade import AsyncGame, AsyncSandbox
from sandbox.games import LocalGame
from sandbox.isolation import Isolation
from sandbox.launching import FLAGS, Launch, Tier, base_python, bubblewrap
from sandbox.local import LocalSandbox
from sandbox.tiers import TIERS, raise_open_files
from sandbox.zygotes import pid_behind
from spade.errors import Retry
from spade.ports import Limits

ROOT = Path(__file__).parents[1]
OPENENV = ROOT / "var/openenv-env/bin/python"
LIMITS = Limits(cpu_seconds=3600.0)
GAME = """
class EchoEnv:
    def reset(self, seed=None):
        self.turns = 0
        return f"Instance {seed}. Say something.", {}

    def step(self, action):
        self.turns += 1
        return f"Turn {self.turns}: you said {action}.", 0.0, False, False, {}
"""
BATCH = ["abc"] * 32
PIPED = (
    GAME
    + """
import json, sys
env = EchoEnv()
for line in sys.stdin:
    kind, value = json.loads(line)
    print(json.dumps(env.reset(value) if kind == "reset" else env.step(value)), flush=True)
"""
)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    starts: int
    steps: int
    repeats: int


QUICK = Effort(starts=15, steps=1_600, repeats=3)
FULL = Effort(starts=200, steps=16_000, repeats=9)


def opened(core: LocalSandbox) -> LocalGame:
    reply, game = core.open(GAME, LIMITS)
    assert game is not None, reply
    game.reset(1)
    return game


def starts(tier: Tier, warm: int, effort: Effort) -> Figures:
    """Milliseconds from the call of `open` to the first observation, and of the kill until it is confirmed."""
    core = LocalSandbox(tier, warm=warm)
    opened(core).close()
    opening, closing = [], []
    for _ in range(effort.starts):
        if warm:
            time.sleep(0.02)  # the pool fills up again off the path that is measured
        began = time.perf_counter()
        game = opened(core)
        opening.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        game.close()
        closing.append((time.perf_counter() - began) * 1e3)
    core.close()
    kind = "warm" if warm else "cold"
    return {f"{kind}_start_ms": statistics.median(opening), f"{kind}_kill_ms": statistics.median(closing)}


def processor_seconds(games: Sequence[LocalGame]) -> float:
    """CPU seconds that this process and the programs have used."""
    used = time.process_time()
    for game in games:
        used += int(Path(f"/proc/{pid_behind(game.child.pidfd)}/schedstat").read_text().split()[0]) / 1e9
    return used


def alone(tier: Tier, effort: Effort) -> Figures:
    """One program, single steps and batches, without an event loop."""
    core = LocalSandbox(tier)
    game = opened(core)
    rates, batches = [], []
    for _ in range(effort.repeats):
        began = time.perf_counter()
        for _ in range(effort.steps):
            game.step("abc")
        rates.append(effort.steps / (time.perf_counter() - began))
        began = time.perf_counter()
        for _ in range(8 * effort.steps // len(BATCH)):
            game.steps(BATCH)
        batches.append(8 * effort.steps / (time.perf_counter() - began))
    shared = on_one_core(game, effort)
    core.close()
    return {
        "blocking_steps_per_second_1": statistics.median(rates),
        "one_core_steps_per_second_1": shared,
        "blocking_batched_steps_per_second_1": statistics.median(batches),
    }


def on_one_core(game: LocalGame, effort: Effort) -> float:
    """Single steps per second with host and program held on one core, as where cores are handed out to processes."""
    cores = os.sched_getaffinity(0)
    try:
        for pid in (0, pid_behind(game.child.pidfd)):
            os.sched_setaffinity(pid, {min(cores)})
        rates = []
        for _ in range(effort.repeats):
            began = time.perf_counter()
            for _ in range(effort.steps):
                game.step("abc")
            rates.append(effort.steps / (time.perf_counter() - began))
        return statistics.median(rates)
    finally:
        os.sched_setaffinity(0, cores)


def proportional_megabytes(game: LocalGame) -> float:
    """A program's memory, shared pages divided among those that share them."""
    lines = Path(f"/proc/{pid_behind(game.child.pidfd)}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def on_a_loop(tier: Tier, count: int, effort: Effort) -> Figures:
    """Many programs at once through the asynchronous port on one event loop: single steps, batches, CPU, memory."""
    core = LocalSandbox(tier)
    isolation = Isolation(tier, core.zygote().layers, {})
    sandbox = AsyncSandbox(core, isolation.level, isolation.report())
    games: list[AsyncGame] = []
    for _ in range(count):
        game = (await sandbox.open(GAME, LIMITS)).game
        assert isinstance(game, AsyncGame)
        await game.reset(1)
        games.append(game)

    async def single(game: AsyncGame) -> None:
        for _ in range(effort.steps // count):
            await game.step("abc")

    async def batched(game: AsyncGame) -> None:
        for _ in range(8 * effort.steps // count // len(BATCH)):
            await game.steps(BATCH)

    rate, cost = await median_rate(games, effort.steps, effort.repeats, single)
    batch_rate, batch_cost = await median_rate(games, 8 * effort.steps, effort.repeats, batched)
    memory = statistics.mean(proportional_megabytes(game.core) for game in games)
    await asyncio.to_thread(core.close)
    return {
        f"steps_per_second_{count}": rate,
        f"cpu_us_per_step_{count}": cost,
        f"batched_steps_per_second_{count}": batch_rate,
        f"batched_cpu_us_per_step_{count}": batch_cost,
        f"memory_mb_{count}": memory,
    }


async def median_rate(
    games: Sequence[AsyncGame], steps: int, repeats: int, play: Callable[[AsyncGame], Awaitable[None]]
) -> tuple[float, float]:
    """Steps per second, and CPU microseconds per step of host and programs together."""
    cores = [game.core for game in games]
    await asyncio.gather(*map(play, games))
    rates, before = [], processor_seconds(cores)
    for _ in range(repeats):
        began = time.perf_counter()
        await asyncio.gather(*map(play, games))
        rates.append(steps / (time.perf_counter() - began))
    return statistics.median(rates), (processor_seconds(cores) - before) / repeats / steps * 1e6


def many(tier: Tier, count: int = 150) -> Figures:
    """Seconds until so many environments are up at once."""
    core = LocalSandbox(tier)
    core.zygote()
    began = time.perf_counter()
    games = [opened(core) for _ in range(count)]
    took = time.perf_counter() - began
    assert all(game.step("abc").ok for game in games)
    core.close()
    return {f"seconds_until_{count}_are_up": took}


def fresh_process(effort: Effort) -> Figures:
    """A new bubblewrap and interpreter per environment."""

    def start() -> subprocess.Popen[str]:
        command = [*bubblewrap(Launch("namespaced")), base_python(), *FLAGS, "-c", PIPED]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ask(process, "reset", 1)
        return process

    def ask(process: subprocess.Popen[str], kind: str, value: Any) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps([kind, value]), file=process.stdin, flush=True)
        json.loads(process.stdout.readline())

    took, rates = [], []
    for _ in range(max(5, effort.starts // 10)):
        began = time.perf_counter()
        process = start()
        took.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        for _ in range(effort.steps // 16):
            ask(process, "step", "abc")
        rates.append(effort.steps // 16 / (time.perf_counter() - began))
        process.kill()
        process.communicate()
    return {"cold_start_ms": statistics.median(took), "steps_per_second_1": statistics.median(rates)}


def openenv(effort: Effort) -> Figures | str:
    """OpenEnv's figures, or why there are none."""
    if not OPENENV.exists():
        return "not built; run benchmarks/build_openenv.sh"
    command = [str(OPENENV), str(ROOT / "benchmarks/openenv_peer.py"), "--steps", str(effort.steps // 8)]
    done = subprocess.run([*command, "--repeats", str(min(3, effort.repeats))], capture_output=True, text=True)
    if done.returncode != 0:
        return f"failed: {done.stderr.strip()[-300:]}"
    figures: Figures = json.loads(done.stdout)
    return figures


def measure(effort: Effort) -> dict[str, Any]:
    """Every figure of this run."""
    raise_open_files()
    result: dict[str, Any] = {
        "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}",
        "load": os.getloadavg()[0],
    }
    for tier in TIERS:
        try:
            figures = starts(tier, 0, effort) | starts(tier, 4, effort) | alone(tier, effort)
        except Retry as error:
            result[tier] = f"skipped: {error}"
            continue
        for count in (1, 8, 32):
            figures |= asyncio.run(on_a_loop(tier, count, effort))
        result[tier] = figures | many(tier)
    result["fresh_process"] = (
        fresh_process(effort) if isinstance(result["namespaced"], dict) else "skipped: no bubblewrap"
    )
    result["openenv"] = openenv(effort)
    result["ratios"] = ratios(result)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute instead of several")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    result = measure(QUICK if given.quick else FULL)
    print(as_json(rows_of(result), **result) if given.json else table(result))


if __name__ == "__main__":
    main()
