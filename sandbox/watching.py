"""Waiting on an event loop: cheap when a program answers at once, never blocking when it does not."""

import asyncio
import time
import weakref
from typing import TypeVar

from sandbox.placing import cores_for_crowd
from sandbox.waiting import Waiting

T = TypeVar("T")

TICK = 0.02
"""Seconds between two looks at the calls that wait."""
BREATH = 16
"""After so many quick replies in a row the other tasks of the loop get a turn; sooner where there are many games."""


FEW = 4
"""Games that may each take a whole breath."""


CROWD = 8
"""Games from which on they keep the other cores busy."""


class Line:
    """One descriptor on one loop. It stays registered between calls, which saves two system calls each."""

    def __init__(self, watch: "Watch", descriptor: int) -> None:
        self.watch = watch
        self.descriptor = descriptor
        self.registered = False
        self.waiter: asyncio.Future[None] | None = None
        self.due = 0.0

    async def wait(self, seconds: float) -> None:
        """Until the descriptor can be read, or about so long."""
        loop = self.watch.loop
        self.waiter = loop.create_future()
        self.due = time.monotonic() + seconds
        if not self.registered:
            self.registered = True
            loop.add_reader(self.descriptor, self.readable)
        self.watch.add(self)
        try:
            await self.waiter
        finally:
            self.waiter = None
            self.watch.waiting.discard(self)

    def readable(self) -> None:
        if self.waiter is None:
            self.drop()
        else:
            self.wake()

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def drop(self) -> None:
        """Must come before the descriptor is closed."""
        if self.registered:
            self.registered = False
            self.watch.loop.remove_reader(self.descriptor)


class Watch:
    """All that waits on one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.waiting: set[Line] = set()
        self.ticking = False
        self.games = 0
        """How many games are open on this loop."""
        self.quick = 0
        self.crowd_cores: frozenset[int] = frozenset()
        self.openings = asyncio.Semaphore(64)

    def crowd(self) -> frozenset[int]:
        """The cores on which programs are played while there are many of them; empty while there are few."""
        if self.games < CROWD:
            self.crowd_cores = frozenset()
        elif not self.crowd_cores:
            self.crowd_cores = cores_for_crowd()
        return self.crowd_cores

    def add(self, line: Line) -> None:
        self.waiting.add(line)
        if not self.ticking:
            self.ticking = True
            self.loop.call_later(TICK, self.tick)

    def tick(self) -> None:
        now = time.monotonic()
        for line in [line for line in self.waiting if line.due <= now]:
            line.wake()
        self.ticking = bool(self.waiting)
        if self.ticking:
            self.loop.call_later(TICK, self.tick)

    async def breathe(self) -> None:
        self.quick += 1
        if self.quick % BREATH == 0:
            await asyncio.sleep(0)

    async def drive(self, waiting: Waiting[T], line: Line | None = None) -> T:
        """Drive a generator to its end. `line` is the one to keep for its usual descriptor."""
        lines = {line.descriptor: line} if line is not None else {}
        try:
            while True:
                descriptor, seconds = next(waiting)
                if descriptor < 0:
                    if self.games > 1:
                        await asyncio.sleep(0)
                    continue
                if descriptor not in lines:
                    lines[descriptor] = Line(self, descriptor)
                await lines[descriptor].wait(seconds)
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            for other in lines.values():
                if other is not line:
                    other.drop()
            waiting.close()


WATCHES: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Watch]" = weakref.WeakKeyDictionary()


def watch() -> Watch:
    """The watch of the running loop."""
    loop = asyncio.get_running_loop()
    found = WATCHES.get(loop)
    if found is None:
        found = WATCHES[loop] = Watch(loop)
    return found
