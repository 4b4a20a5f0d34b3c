"""The ports `Sandbox` and `Game` over rented machines, on whatever event loop is running."""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from sandbox.cloud.dealing import Pace
from sandbox.cloud.fleet import Fleet
from sandbox.cloud.games import CloudGame
from sandbox.local import refusal
from spade.errors import Abort
from spade.outcomes import CallOutcome, Reply
from spade.ports import Ask, IsolationLevel, Limits, Opened
from spade.settings import SandboxSettings

T = TypeVar("T")

CLOSE_SECONDS = 60.0
FORKED = "the game is not this process's any more"


class Loop:
    """An event loop in a thread of its own: the SDK's connections belong to one loop, our callers to many."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="e2b", daemon=True)
        self.thread.start()

    @property
    def ours(self) -> bool:
        """Whether this is the process that started it, and not a forked copy."""
        return os.getpid() == self.owner

    def wait_for(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run a coroutine there and wait here."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    async def go(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there; a cancellation here reaches it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5.0)


class RemoteGame:
    """`spade.ports.Game`, and `BundleGame`: over a network, bundles are what makes it fast."""

    def __init__(self, core: CloudGame, loop: Loop) -> None:
        self.core = core
        self.loop = loop

    async def reset(self, seed: int) -> Reply:
        return await self.one(Ask("reset", seed))

    async def step(self, action: str) -> Reply:
        return await self.one(Ask("step", actions=(action,)))

    async def steps(self, actions: Sequence[str]) -> Reply:
        return await self.one(Ask("steps", actions=tuple(actions)))

    async def solution(self) -> Reply:
        return await self.one(Ask("solution"))

    async def one(self, ask: Ask) -> Reply:
        return (await self.ask_many([ask]))[0]

    async def ask_many(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        if not self.loop.ours:
            return (Reply(CallOutcome.SANDBOX_LOST, detail=FORKED),)
        return await self.loop.go(self.core.ask_many(asks))

    async def close(self) -> None:
        if self.loop.ours:
            await self.loop.go(self.core.close())


class RemoteSandbox:
    """`spade.ports.Sandbox` on E2B. Usable from several loops and threads at once; not from a forked process."""

    def __init__(self, settings: SandboxSettings, pace: Pace | None = None) -> None:
        """Get the first machine. Raises `Abort` when none can be had with these settings, `Retry` when not now."""
        pace = pace or Pace()
        self.loop = Loop()
        self.fleet = Fleet(settings, pace)
        atexit.register(self.close)
        try:
            self._report = report_of(self.loop.wait_for(self.fleet.open()), settings)
        except BaseException:
            self.close()
            raise

    @property
    def level(self) -> IsolationLevel:
        return IsolationLevel.VM

    def report(self) -> Mapping[str, Any]:
        return self._report

    async def open(self, program: str, limits: Limits, *, hash_seed: int = 0) -> Opened:
        """See `spade.ports.Sandbox.open`."""
        unfit = refusal(program)
        if unfit:
            return Opened(Reply(CallOutcome.ENV_PROTOCOL, detail=unfit))
        if not self.loop.ours:
            raise Abort(
                "this process is a fork of the one that rented the machines.", "Open a sandbox of its own here."
            )
        game = CloudGame(self.fleet, program, limits, hash_seed)
        reply = await self.loop.go(game.open())
        return Opened(reply, RemoteGame(game, self.loop) if reply.ok else None)

    def close(self) -> None:
        """Kill every machine. Safe to call twice; in a forked copy it does nothing."""
        atexit.unregister(self.close)
        if self.loop.ours and not self.loop.loop.is_closed():
            with contextlib.suppress(TimeoutError):
                self.loop.wait_for(self.fleet.close(), CLOSE_SECONDS)
            self.loop.stop()
            self.loop.loop.close()


def report_of(inside: dict[str, Any], settings: SandboxSettings) -> dict[str, Any]:
    """The isolation report: a machine of its own around whatever holds the programs apart inside it."""
    held = dict(inside.get("properties", {}))
    outer = "virtual machine"
    apart = ("no further processes or threads", "memory is bounded", "time is bounded", "private scratch folder")
    properties = {what: [outer, *means] if what not in apart else means for what, means in held.items()}
    properties["no network"] = ["no internet for the machine", *properties.get("no network", [])]
    return inside | {
        "level": "vm",
        "backend": "e2b",
        "layers": {"virtual_machine": f"E2B, template {settings.template}"} | dict(inside.get("layers", {})),
        "inside": {"level": inside.get("level"), "backend": inside.get("backend")},
        "properties": properties,
    }
