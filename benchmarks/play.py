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
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verifiers_peer import rollouts_per_second
from data.catalog import Catalog
from inference.connecting import connect
from sandbox.opening import open_sandbox
from spade.episodes import Arm, Asked, Episode, ModelPolicy, play
from spade.messages import Completion, Message, Request, Role, Sampling, Usage
from spade.ports import Game, Limits, Model, Sandbox
from spade.settings import ModelSettings, SandboxSettings

SLOTS, SECONDS = 64, 0.05
CALLS = 80
"""Calls under way against the endpoint: the next one waits at the endpoint already when a slot gets free, so that the
way there and back costs nothing."""
STORE_EVERY = 256
PROGRAM = '''
import random

class CountingEnv:
    """Ends after LENGTH turns, or after 2 to 18 of them where LENGTH is 0."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.left = LENGTH or rng.randint(2, 18)
        return f"{self.left} turns to go. Say next.", {}

    def step(self, action):
        self.left -= 1
        won = self.left <= 0
        return f"{self.left} turns to go.", float(won), won, False, {}
'''
Row = tuple[str, float, str, float | None]
"""Name, value, unit, target."""


class Instant:
    """Answers at once: what is left is the engine's own time."""

    name = weights = "instant"

    async def complete(self, request: Request) -> Completion:
        return Completion("I go on. \\boxed{next}", self.name, self.weights, usage=Usage(100, 8))


async def rollout(sandbox: Sandbox, model: Model, number: int, length: int) -> Episode:
    opened = await sandbox.open(PROGRAM.replace("LENGTH", str(length)), Limits())
    if opened.game is None:
        raise SystemExit(f"the game does not open: {opened.reply.detail}")
    asked = Asked("cycle-bench", f"env-{number % 24}", 0, Arm.PLAIN, number, number)
    try:
        return await play(opened.game, ModelPolicy(model, Sampling(seed=number)), asked, "Play.", max_turns=25)
    finally:
        await opened.game.close()


class Store:
    """Episodes on their way to disk, some hundred at a time and in a thread, as the factory keeps them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog, self._waiting = catalog, list[Episode]()
        self.stored = self.turns = 0

    async def add(self, episode: Episode) -> None:
        self._waiting.append(episode)
        self.turns += len(episode.turns)
        if len(self._waiting) >= STORE_EVERY:
            await self.flush()

    async def flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            await asyncio.to_thread(self._catalog.append, "episodes", batch)
        self.stored += len(batch)


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
        before = resident_megabytes()

        async def player() -> None:
            for number in numbers:
                await store.add(await rollout(sandbox, Instant(), number, 10))

        started = time.perf_counter()
        await asyncio.gather(*(player() for _ in range(SLOTS)))
        await store.flush()
        seconds = time.perf_counter() - started
    return [
        ("rollouts of 10 turns, no latency", rollouts / seconds, "rollouts/s", 250.0),
        ("turns, no latency", store.turns / seconds, "turns/s", None),
        ("event loop lag, 99th of 100", 1000 * lag[0], "ms", 50.0),
        ("memory grown over them", resident_megabytes() - before, "MB", None),
    ]


async def flatness(episodes: int, home: Path) -> list[Row]:
    """Play and store `episodes` of them; by how much this process has grown after the first fifth."""
    store, numbers, seen = Store(Catalog(home)), iter(range(episodes)), [0.0]
    async with open_sandbox(SandboxSettings()) as sandbox:

        async def player() -> None:
            for number in numbers:
                await store.add(await rollout(sandbox, Instant(), number, 10))
                if number == episodes // 5:
                    seen[0] = resident_megabytes()

        started = time.perf_counter()
        await asyncio.gather(*(player() for _ in range(SLOTS)))
        await store.flush()
    rate, now = episodes / (time.perf_counter() - started), resident_megabytes()
    if store.stored != episodes:
        raise SystemExit(f"{store.stored} of {episodes} episodes were stored")
    return [
        (f"rollouts of 10 turns, {episodes:,} on end", rate, "rollouts/s", None),
        (f"memory after {episodes // 5:,} of them", seen[0], "MB", None),
        (f"memory grown from there to {episodes:,}", now - seen[0], "MB grown", 32.0),
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
        ("rollouts of 10 turns over HTTP", ours, "rollouts/s", None),
        ("verifiers, quickest player of its own", theirs, "rollouts/s", None),
        ("engine against verifiers' quickest", ours / theirs, "times", None),
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
        ("calls, 50 ms and 64 slots", ours, "calls/s", None),
        ("share of the ideal 1,280", 100 * ours / ideal, "%", 95.0),
        ("share of the ideal, lock-step loop", 100 * theirs / ideal, "%", None),
        ("engine against lock-step", ours / theirs, "times", None),
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


def regeneration(home: Path) -> list[Row]:
    """24 environments, 12 plays an arm, through every stage with Prefect and storage."""
    os.environ |= {
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    from prefect import flow
    from prefect.testing.utilities import prefect_test_harness

    from flows.configuring import flags_of, load_settings
    from flows.generate import finish_cycle, next_cycle
    from flows.opening import open_parts
    from tests.fakes import WholeFactoryModel

    wanted = {"cycle__slots": 24, "cycle__plays": 12, "gates__random_win_max": 0.3}
    wanted |= {"memory__duplicate_code": 1.0}  # the scripted designer's locks differ in numbers alone

    @flow(name="regeneration")
    async def regenerate(place: str) -> tuple[float, float, int]:
        settings = load_settings("default", flags_of(**wanted, home=str(home / place)))
        async with open_parts(settings, model=WholeFactoryModel()) as parts:
            started, worked = time.perf_counter(), time.process_time()
            summary = await finish_cycle(parts, next_cycle(parts))
            assert summary is not None
            return time.perf_counter() - started, time.process_time() - worked, summary.accepted

    with prefect_test_harness(server_startup_timeout=120):
        first, _, _ = asyncio.run(regenerate("first"))
        seconds, worked, accepted = asyncio.run(regenerate("second"))
    return [
        ("regeneration, first of a process", first, "s", 6.0),
        ("regeneration", seconds, "s", 6.0),
        ("regeneration, processor time", worked, "s", None),
        ("environments accepted of 24", float(accepted), "", None),
    ]


@contextmanager
def endpoint(seconds: float = SECONDS) -> Iterator[str]:
    """The stub's address; it answers after `seconds`."""
    command = [sys.executable, __file__, "--serve", str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "stub",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "I go on. \\boxed{next}"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 108},
}


class Stub(asyncio.Protocol):
    """One kept connection; every request is answered after `SECONDS`, `SLOTS` at once over all of them."""

    free = asyncio.Semaphore(SLOTS)
    seconds = SECONDS
    body = json.dumps(REPLY).encode()
    models = json.dumps({"data": [{"id": "stub", "owned_by": "stub"}]}).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.data = transport, b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, end, rest = self.data.partition(b"\r\n\r\n")
        sizes = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if end and len(rest) >= sum(sizes):
            self.data = b""
            asyncio.get_running_loop().create_task(self.answer(head.startswith(b"GET")))

    async def answer(self, listed: bool) -> None:
        async with self.free:
            await asyncio.sleep(0 if listed else self.seconds)
        body = self.models if listed else self.body
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]


async def serve(seconds: float) -> None:
    Stub.seconds = seconds
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


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


def met(value: float, unit: str, target: float | None) -> bool | None:
    return None if target is None else value <= target if unit in ("s", "ms", "MB grown") else value >= target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the endpoint is kept busy")
    parser.add_argument("--no-regeneration", action="store_true")
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verifiers", type=Path, help="Python of an environment with verifiers (build_verifiers.sh)")
    parser.add_argument("--flat", type=int, default=0, metavar="N", help="play N episodes and watch the memory")
    parser.add_argument("--serve", type=float, default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        asyncio.run(serve(arguments.serve))
        return
    if arguments.quick:
        arguments.rollouts, arguments.seconds = 500, 3.0
    rows = measure(arguments)
    if arguments.json:
        keys = ("name", "value", "unit", "target")
        print(json.dumps({"rows": [dict(zip(keys, row, strict=True)) | {"ok": met(*row[1:])} for row in rows]}))
        return
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"
    )
    for name, value, unit, target in rows:
        wanted = "" if target is None else f"(target {target:g}: {'met' if met(value, unit, target) else 'missed'})"
        print(f"{name:36} {value:10,.1f} {unit:10} {wanted}")


if __name__ == "__main__":
    main()
