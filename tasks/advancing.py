"""How far a long task is, as a bar in the UI: short tasks get none, and no task waits for it."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

import httpx
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.exceptions import PrefectHTTPStatusError

from tasks.together import together

LONG_SECONDS = 30.0
"""What takes longer gets a bar."""
EVERY_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
"""A server that does not answer within this is asked again next time."""


T = TypeVar("T")


class Advance:
    """One bar, of the task or flow that is running; `what` is said of it. With a `key` it stands among the artifacts
    too, without one on the run's own page alone."""

    def __init__(
        self,
        what: str,
        key: str | None = None,
        *,
        after: float = LONG_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key, self._what, self._clock = key, what, clock
        self._due = clock() + after
        self._id: UUID | None = None

    async def at(self, done: float, total: float) -> None:
        """Show that so much of the total is done, unless that was shown a moment ago."""
        if self._clock() < self._due or total <= 0:
            return
        self._due = self._clock() + EVERY_SECONDS
        await self._show(min(100.0, 100.0 * done / total))

    async def end(self) -> None:
        """A bar that was begun goes to its end."""
        if self._id is not None:
            await self._show(100.0)

    async def _show(self, percent: float) -> None:
        with suppress(httpx.HTTPError, PrefectHTTPStatusError, TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                if self._id is None:
                    self._id = await acreate_progress_artifact(percent, key=self._key, description=self._what)
                else:
                    await aupdate_progress_artifact(self._id, percent)


async def advancing(advance: Advance, work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order, as `together` gives them, with a bar that counts those that are there."""
    done = 0

    async def counted(each: Coroutine[Any, Any, T]) -> T:
        nonlocal done
        result = await each
        done += 1
        await advance.at(done, len(work))
        return result

    results = await together(*(counted(each) for each in work))
    await advance.end()
    return results
