"""Run coroutines side by side: the first failure cancels the rest, and it alone is raised."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def together(*coroutines: Coroutine[Any, Any, T]) -> list[T]:
    """All results in order. Unlike `asyncio.gather`, nothing is left running behind a failure."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        raise _first(failures) from None
    return [task.result() for task in running]


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
