"""How fast the engine plays: without latency, against an endpoint of 64 slots and 50 ms, and one whole regeneration.

    python benchmarks/play.py [--quick] [--json] [--rollouts N] [--seconds S] [--no-regeneration]
                              [--flat 50000] [--verifiers var/verifiers-env/bin/python]

Every game runs in the sandbox and every episode is stored. The endpoint is a process of its own on loopback that
answers after 50 ms, 64 calls at once; its ideal is 1,280 calls/s (`model.concurrency` is 80, a quarter more than it has
slots). The peer of that row is a loop in lock-step, as
trainers often have it: all games take a turn, then all take the next. A regeneration is 24 environments designed,
judged, hinted and played 576 times by a scripted model through Prefect tasks and the catalog; starting Prefect's server
is left out. The first one of a process also loads the libraries that check and index. Processor time is that of this
process: Prefect's server and the sandbox have theirs.

`--flat N` plays N episodes on end and says by how much the process has grown since the first fifth of them.
`--verifiers` plays as many turns with verifiers in the same run, against the same stub without latency, with the
quickest player that its contract allows (its own harnesses start a process a turn) and the game in its own process.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import resident
from benchmarks.regenerating import regeneration
from benchmarks.reporting import Row, show
from benchmarks.rollouts import PROGRAM, Instant, Store, rollout
from benchmarks.verifiers_peer import rollouts_per_second
from benchmarks.waiting_endpoint import SECONDS, SLOTS, endpoint
from data.catalog import Catalog
from inference.connecting import connect
from sandbox.opening import open_sandbox
from spade.messages import Completion, Message, Request, Role, Sampling
from spade.ports import Game, Limits, Model, Sandbox
from spade.settings import ModelSettings, SandboxSettings

CALLS = 80
"""Calls under way against the endpoint: the next one waits at the endpoint already when a slot gets free, so that the
way there and back costs nothing."""


@asynccontextmanager
async def lag_of_the_loop(found: list[float]) -> AsyncIterator[None]:
    """By how much a sleep of 5 ms is late, as long as the block lasts; seconds, 99th of 100."""
    late: list[float] = []

    async def watch() -> None:
        while True:
            asked = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append(time.perf_counter() - asked - 0.005)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        found.append(statistics.quantiles(late, n=100)[98] if len(late) > 2 else 0.0)


async def without_latency(rollouts: int, home: Path) -> list[Row]:
    """Ten turns each, 64 games at once."""
    lag: list[float] = []
    store, numbers = Store(Catalog(home)), iter(range(rollouts))
    async with open_sandbox(SandboxSettings()) as sandbox, lag_of_the_loop(lag):
        before = resident()

        async def player() -> None:
            for number in numbers:
                await store.add(await rollout(sandbox, Instant(), number, 10))

        started = time.perf_counter()
        await asyncio.gather(*(player() for _ in range(SLOTS)))
        await store.flush()
        seconds = time.perf_counter() - started
    return [
        Row("rollouts of 10 turns, no latency", round(rollouts / seconds, 1), "rollouts/s", 250.0),
        Row("turns, no latency", round(store.turns / seconds, 1), "turns/s"),
        Row("event loop lag, 99th of 100", round(1000 * lag[0], 1), "ms", 50.0),
        Row("memory grown over them", round(resident() - before, 1), "MB"),
    ]


async def flatness(episodes: int, home: Path) -> list[Row]:
    """Play and store `episodes` of them; by how much this process has grown after the first fifth."""
    store, numbers, seen = Store(Catalog(home)), iter(range(episodes)), [0.0]
    async with open_sandbox(SandboxSettings()) as sandbox:

        async def player() -> None:
            for number in numbers:
                await store.add(await rollout(sandbox, Instant(), number, 10))
                if number == episodes // 5:
                    seen[0] = resident()

        started = time.perf_counter()
        await asyncio.gather(*(player() for _ in range(SLOTS)))
        await store.flush()
    rate, now = episodes / (time.perf_counter() - started), resident()
    if store.stored != episodes:
        raise SystemExit(f"{store.stored} of {episodes} episodes were stored")
    return [
        Row(f"rollouts of 10 turns, {episodes:,} on end", round(rate, 1), "rollouts/s"),
        Row(f"memory after {episodes // 5:,} of them", round(seen[0], 1), "MB"),
        Row(f"memory grown from there to {episodes:,}", round(now - seen[0], 1), "MB", 32.0),
    ]


async def over_http(rollouts: int, home: Path, url: str) -> float:
    """Rollouts a second of 10 turns against an endpoint of another process that answers at once."""
    model = await connect(ModelSettings(concurrency=SLOTS, name="stub"), url)
    store, numbers = Store(Catalog(home)), iter(range(rollouts))
    async with open_sandbox(SandboxSettings()) as sandbox:

        async def player() -> None:
            for number in numbers:
                await store.add(await rollout(sandbox, model, number, 10))

        started = time.perf_counter()
        await asyncio.gather(*(player() for _ in range(SLOTS)))
        await store.flush()
        seconds = time.perf_counter() - started
    await model.aclose()
    return rollouts / seconds


def against_verifiers(python: Path, rollouts: int, home: Path) -> list[Row]:
    """Both in turn against the same stub; verifiers plays the game in its own process, without a sandbox."""
    with endpoint(0.0) as url:
        ours = asyncio.run(over_http(rollouts, home, url))
        theirs = rollouts_per_second(python, url, max(64, rollouts // 4), SLOTS)
    return [
        Row("rollouts of 10 turns over HTTP", round(ours, 1), "rollouts/s"),
        Row("verifiers, quickest player of its own", round(theirs, 1), "rollouts/s"),
        Row("engine against verifiers' quickest", round(ours / theirs, 1), "times"),
    ]


async def saturation(seconds: float, home: Path) -> list[Row]:
    """Calls a second while games of 2 to 18 turns come and go, in the engine and in lock-step."""
    ideal = SLOTS / SECONDS
    with endpoint() as url:
        model = await connect(ModelSettings(concurrency=CALLS, name="stub"), url)
        async with open_sandbox(SandboxSettings()) as sandbox:
            ours = await engine_rate(sandbox, model, seconds, Store(Catalog(home)))
            theirs = await lockstep_rate(sandbox, model, seconds)
        await model.aclose()
    return [
        Row("calls, 50 ms and 64 slots", round(ours, 1), "calls/s"),
        Row("share of the ideal 1,280", round(100 * ours / ideal, 1), "% of it", 95.0),
        Row("share of the ideal, lock-step loop", round(100 * theirs / ideal, 1), "% of it"),
        Row("engine against lock-step", round(ours / theirs, 1), "times"),
    ]


async def engine_rate(sandbox: Sandbox, model: Model, seconds: float, store: Store) -> float:
    """Twice as many games as slots, so that one that opens or is stored leaves no slot idle."""
    counted = Counting(model)
    numbers = iter(range(10**9))

    async def player() -> None:
        for number in numbers:
            await store.add(await rollout(sandbox, counted, number, 0))

    players = [asyncio.create_task(player()) for _ in range(2 * SLOTS)]
    await asyncio.sleep(seconds / 4)
    first, started = counted.calls, time.perf_counter()
    await asyncio.sleep(seconds)
    rate = (counted.calls - first) / (time.perf_counter() - started)
    for task in players:
        task.cancel()
    await asyncio.gather(*players, return_exceptions=True)
    return rate


class Counting:
    """The same model, its answers counted."""

    def __init__(self, model: Model) -> None:
        self._model, self.calls = model, 0
        self.name, self.weights = model.name, model.weights

    async def complete(self, request: Request) -> Completion:
        completion = await self._model.complete(request)
        self.calls += 1
        return completion


async def lockstep_rate(sandbox: Sandbox, model: Model, seconds: float) -> float:
    """Batches of as many games as slots; nobody takes the next turn before all have taken theirs."""
    counted, number = Counting(model), 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        opened = [await sandbox.open(PROGRAM.replace("LENGTH", "0"), Limits()) for _ in range(SLOTS)]
        games = [o.game for o in opened if o.game is not None]
        await asyncio.gather(*(game.reset(number + at) for at, game in enumerate(games)))
        alive, number = list(games), number + SLOTS
        while alive:
            alive = await lockstep_turn(counted, alive)
        await asyncio.gather(*(game.close() for game in games))
    return counted.calls / (time.perf_counter() - started)


async def lockstep_turn(model: Model, games: Sequence[Game]) -> list[Game]:
    request = Request((Message("user", "Say next."),), Sampling(), Role.AGENT)
    answers = await asyncio.gather(*(model.complete(request) for _ in games))
    replies = await asyncio.gather(*(game.step(a.text) for game, a in zip(games, answers, strict=True)))
    return [game for game, reply in zip(games, replies, strict=True) if not reply.steps[0].terminated]


def measure(arguments: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        rows = asyncio.run(without_latency(arguments.rollouts, home / "instant"))
        rows += asyncio.run(saturation(arguments.seconds, home / "endpoint"))
        if arguments.flat:
            rows += asyncio.run(flatness(arguments.flat, home / "flat"))
        if arguments.verifiers:
            rows += against_verifiers(arguments.verifiers, arguments.rollouts, home / "verifiers")
        if not arguments.no_regeneration:
            rows += regeneration(home / "regeneration")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the endpoint is kept busy")
    parser.add_argument("--no-regeneration", action="store_true")
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verifiers", type=Path, help="Python of an environment with verifiers (build_verifiers.sh)")
    parser.add_argument("--flat", type=int, default=0, metavar="N", help="play N episodes and watch the memory")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rollouts, arguments.seconds = 500, 3.0
    rows = measure(arguments)
    show(rows, as_lines=not arguments.json)


if __name__ == "__main__":
    main()
