"""An endpoint that is down is left alone: one call knocks, the others wait, and after a while they stop waiting."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from inference.faults import Again
from spade.errors import Retry, SpadeError


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`failures` in a row, of any calls, and the endpoint counts as down. It is tried again after `first` seconds, then
    twice as long each time up to `longest`. Calls wait for `patience` seconds of that; then they fail at once until a
    knock is answered. A server that restarts or loads new weights is thus ridden out."""

    failures: int = 8
    first: float = 1.0
    longest: float = 30.0
    patience: float = 300.0


class Breaker:
    """A circuit breaker for one endpoint on one event loop."""

    def __init__(self, tolerance: Tolerance | None = None) -> None:
        self.tolerance = tolerance or Tolerance()
        self._failures = 0
        self._down_since: float | None = None
        self._next_knock = 0.0
        self._pause = 0.0
        self._knocking = False
        self._up = asyncio.Event()

    @property
    def down(self) -> bool:
        return self._down_since is not None

    @asynccontextmanager
    async def call(self, where: str) -> AsyncIterator[None]:
        """Around one call: waits while the endpoint is down, and learns from how the call ends. Raises `Retry` when the
        patience is over."""
        knock = await self._admit(where)
        try:
            yield
        except Again as fault:
            self._heard() if fault.alive else self._failed(knock)
            raise
        except SpadeError:
            self._heard()
            raise
        except BaseException:
            if knock:
                self._knocking = False  # cancelled before it learned anything
            raise
        self._heard()

    async def _admit(self, where: str) -> bool:
        """Whether the call that may go out now is the one that knocks."""
        now = asyncio.get_running_loop().time
        while self._down_since is not None:
            if not self._knocking and now() >= self._next_knock:
                self._knocking = True
                return True
            if now() - self._down_since > self.tolerance.patience:
                raise Retry(f"{where} is down for {now() - self._down_since:.0f} s.", "Start it again, then go on.")
            pause = self.tolerance.first if self._knocking else self._next_knock - now()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._up.wait(), max(0.001, pause))
        return False

    def _heard(self) -> None:
        self._failures = 0
        self._down_since = None
        self._pause = 0.0
        self._knocking = False
        self._up.set()

    def _failed(self, knock: bool) -> None:
        self._failures += 1
        if self._down_since is not None and not knock:
            return  # it went out before the endpoint was known to be down
        if self._down_since is None and self._failures < self.tolerance.failures:
            return
        now = asyncio.get_running_loop().time()
        self._down_since = self._down_since or now
        self._knocking = False
        self._up.clear()
        self._pause = min(self.tolerance.longest, self._pause * 2 or self.tolerance.first)
        self._next_knock = now + self._pause
