"""Several machines: as many as the games need and no more than allowed, made with care, and none left behind."""

import asyncio
import random
import uuid
from typing import Any

from sandbox.cloud.dealing import MachineLost, NoneFree, Pace, attributed
from sandbox.cloud.machine import Machine
from spade.errors import Abort, Retry
from spade.settings import SandboxSettings

APP = {"app": "spade-factory"}
"""On every machine, so that those whose owner is gone can be found."""


class Fleet:
    """The machines of one run. Belongs to one event loop."""

    def __init__(self, settings: SandboxSettings, pace: Pace) -> None:
        self.settings = settings
        self.pace = pace
        self.tags = APP | {"run": uuid.uuid4().hex}
        self.machines: list[Machine] = []
        self.starting: dict[Machine, asyncio.Task[None]] = {}
        self.chores: set[asyncio.Task[Any]] = set()
        self.creating = asyncio.Semaphore(pace.creations)
        self.most = settings.machines
        self.numbers = 0
        """Games so far."""
        self.closed = False

    async def open(self) -> dict[str, Any]:
        """The first machine's report. Raises `Abort` or `Retry`."""
        machine = await self.seat()
        machine.games -= 1
        self.chore(self.sweep())
        return machine.report

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    async def seat(self) -> Machine:
        """A machine for one more game, counted there. Raises `Retry` when none can be had, `Abort` when none ever."""
        for attempt in range(self.pace.tries):
            if self.closed:
                raise Abort("the sandbox has been closed.")
            machine = self.choose()
            machine.games += 1
            try:
                await asyncio.shield(self.starting[machine])
                return machine
            except MachineLost as error:
                why = error
                self.forget(machine)
                if isinstance(error, NoneFree):
                    self.most = max(1, len(self.machines))
            await asyncio.sleep(random.uniform(0.5, 1) * self.pace.jitter * 2**attempt)
        raise Retry(f"E2B gives no machine: {why}")

    def choose(self) -> Machine:
        """The one with the fewest games; a new one when that has enough already and another is allowed. When all are
        full they share out what is too much: a game that waits for a seat while its owner waits for it would hang."""
        self.machines = [machine for machine in self.machines if not machine.lost]
        least = min(self.machines, key=lambda machine: machine.games, default=None)
        if least is not None and (least.games < self.settings.games_per_machine or len(self.machines) >= self.most):
            return least
        machine = Machine(self.settings.template, self.tags, self.pace)
        self.machines.append(machine)
        self.starting[machine] = asyncio.create_task(self.start(machine))
        return machine

    async def start(self, machine: Machine) -> None:
        async with self.creating:
            if len(self.machines) > 1:
                await asyncio.sleep(random.uniform(0, self.pace.jitter))
            await machine.start()

    def leave(self, machine: Machine, game: int) -> None:
        machine.games -= 1
        machine.part_with(game)

    def forget(self, machine: Machine) -> None:
        """A machine that is lost is killed all the same: it may be alive where we cannot hear it."""
        if machine in self.machines:
            self.machines.remove(machine)
        if self.starting.pop(machine, None) is not None:
            machine.fail("it was given up")
            self.chore(machine.kill())

    def chore(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self.chores.add(task)
        task.add_done_callback(self.chores.discard)

    async def sweep(self) -> None:
        """Kill machines whose owner is gone. A living owner renews every sixth of the lifetime; one whose end lies half
        a lifetime before the newest (ours, just made) has missed three renewals. No clock of ours is asked."""
        try:
            found = await self.listed(APP)
            newest = max((each.end_at for each in found), default=None)
            for each in found:
                if newest and (newest - each.end_at).total_seconds() > self.pace.lifetime / 2:
                    await self.kill(each.sandbox_id)
        except Exception as error:  # noqa: BLE001 - nobody waits for it, and the next run sweeps again
            attributed(error)

    async def listed(self, tags: dict[str, str]) -> list[Any]:
        from e2b import AsyncSandbox, SandboxQuery

        found: list[Any] = []
        pages = AsyncSandbox.list(query=SandboxQuery(metadata=tags), request_timeout=self.pace.request)
        while pages.has_next:
            found += await pages.next_items()
        return found

    async def kill(self, sandbox_id: str) -> None:
        from e2b import AsyncSandbox

        await AsyncSandbox.kill(sandbox_id, request_timeout=self.pace.request)

    async def close(self) -> None:
        """Kill every machine of this run, also one whose making was never confirmed to us."""
        self.closed = True
        starting = list(self.starting.values())
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        await asyncio.gather(*(machine.kill() for machine in self.starting), *self.chores, return_exceptions=True)
        if self.starting:
            try:
                await asyncio.gather(*(self.kill(each.sandbox_id) for each in await self.listed(self.tags)))
            except Exception as error:  # noqa: BLE001 - unrenewed, they end by themselves
                attributed(error)
