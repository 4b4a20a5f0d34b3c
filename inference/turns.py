"""How many calls are under way at once, and who goes next.

The limit finds the endpoint's own: it doubles per round until the endpoint first says it has too many calls, is cut to
`BACK_OFF` of itself whenever it says so again (once per round), and else grows by one per round: additive increase,
multiplicative decrease, as in TCP (RFC 5681).
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

FIRST = 16
BACK_OFF = 0.7
OVERTAKEN = 30.0
"""Seconds after which a waiting call can no longer be overtaken."""

_lane: ContextVar[str] = ContextVar("lane", default="")


@contextmanager
def lane(name: str) -> Iterator[None]:
    """Calls made inside the block, by tasks started there too, belong together: an environment, a slot. When calls have
    to wait, the lane with the fewest waiting goes first, so that what is nearly finished gets finished."""
    token = _lane.set(name)
    try:
        yield
    finally:
        _lane.reset(token)


class Turn:
    """One call's turn. `generation` tells which calls began before the limit was last cut."""

    __slots__ = ("crowded", "done", "generation")

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.done = self.crowded = False


class Turns:
    """At most `limit` turns at once, never more than `most`. Belongs to one event loop.

    A caller marks its turn before it ends: `done` when the endpoint answered, `crowded` when it had too many calls.
    """

    def __init__(self, most: int, first: int = FIRST) -> None:
        self.most = most
        self.limit = float(min(most, first))
        self.under_way = 0
        self._threshold = float(most)
        self._generation = 0
        self._lanes: dict[str, deque[asyncio.Future[None]]] = {}
        self._arrivals: OrderedDict[asyncio.Future[None], tuple[float, str]] = OrderedDict()

    @property
    def waiting(self) -> int:
        return len(self._arrivals)

    @asynccontextmanager
    async def turn(self, default_lane: str = "") -> AsyncIterator[Turn]:
        await self._wait(_lane.get() or default_lane)
        turn = Turn(self._generation)
        try:
            yield turn
        finally:
            self._judge(turn)
            self.under_way -= 1
            self._let_in()

    async def _wait(self, name: str) -> None:
        if not self._arrivals and self.under_way < int(self.limit):
            self.under_way += 1
            return
        loop = asyncio.get_running_loop()
        admitted: asyncio.Future[None] = loop.create_future()
        self._lanes.setdefault(name, deque()).append(admitted)
        self._arrivals[admitted] = (loop.time(), name)
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted in self._arrivals:
                self._forget(admitted)
            else:  # let in and cancelled at once: the turn goes to the next
                self.under_way -= 1
                self._let_in()
            raise

    def _let_in(self) -> None:
        while self._arrivals and self.under_way < int(self.limit):
            admitted = self._next()
            self._forget(admitted)
            self.under_way += 1
            admitted.set_result(None)

    def _next(self) -> "asyncio.Future[None]":
        oldest, (since, _) = next(iter(self._arrivals.items()))
        if asyncio.get_running_loop().time() - since > OVERTAKEN:
            return oldest
        return min(self._lanes.values(), key=len)[0]

    def _forget(self, admitted: "asyncio.Future[None]") -> None:
        _, name = self._arrivals.pop(admitted)
        queue = self._lanes[name]
        queue.remove(admitted)
        if not queue:
            del self._lanes[name]

    def _judge(self, turn: Turn) -> None:
        if turn.crowded:
            if turn.generation == self._generation:
                self._generation += 1
                self.limit = self._threshold = max(1.0, self.limit * BACK_OFF)
        elif turn.done and 2 * self.under_way >= int(self.limit):  # a limit that nobody comes near says nothing
            step = 1.0 if self.limit < self._threshold else 1.0 / self.limit
            self.limit = min(float(self.most), self.limit + step)
