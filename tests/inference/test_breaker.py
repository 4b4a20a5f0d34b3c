"""An endpoint that is down is left alone, and is back in use as soon as it answers."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from inference.breaker import Breaker, Tolerance
from inference.faults import Again
from spade.errors import Abort, Retry, Skip

QUICK = Tolerance(failures=3, first=0.01, longest=0.02, patience=60.0)


async def fail(breaker: Breaker, error: Exception) -> None:
    with pytest.raises(type(error)):
        async with breaker.call("here"):
            raise error


async def down(breaker: Breaker) -> None:
    for _ in range(breaker.tolerance.failures):
        await fail(breaker, Again("no answer"))


async def test_it_takes_several_failures_in_a_row() -> None:
    breaker = Breaker(QUICK)
    for error in (Again("x"), Again("x"), Skip("too long"), Again("x"), Again("x")):
        await fail(breaker, error)
    assert not breaker.down

    await fail(breaker, Again("x"))
    assert breaker.down


@pytest.mark.parametrize("error", [Skip("x"), Abort("x"), Again("429", alive=True)])
async def test_an_endpoint_that_says_no_is_not_down(error: Exception) -> None:
    breaker = Breaker(QUICK)
    for _ in range(10):
        await fail(breaker, error)

    assert not breaker.down


async def test_one_call_knocks_and_the_others_wait_for_it() -> None:
    breaker = Breaker(QUICK)
    await down(breaker)
    tried: list[int] = []
    answer = asyncio.Event()

    async def call(number: int) -> None:
        async with breaker.call("here"):
            tried.append(number)
            await answer.wait()

    tasks = [asyncio.create_task(call(number)) for number in range(5)]
    while not tried:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.05)
    assert len(tried) == 1

    answer.set()
    await asyncio.gather(*tasks)
    assert sorted(tried) == [0, 1, 2, 3, 4]
    assert not breaker.down


async def test_a_call_cancelled_while_it_knocks_lets_another_knock() -> None:
    breaker = Breaker(QUICK)
    await down(breaker)

    async def hang() -> None:
        async with breaker.call("here"):
            await asyncio.sleep(3600)

    knocking = asyncio.create_task(hang())
    await asyncio.sleep(0.05)
    knocking.cancel()
    await asyncio.gather(knocking, return_exceptions=True)

    async with asyncio.timeout(10), breaker.call("here"):
        pass
    assert not breaker.down


async def test_calls_fail_at_once_when_the_patience_is_over() -> None:
    """A run must end and say why, not hang for ever."""
    breaker = Breaker(Tolerance(failures=3, first=3600.0, longest=3600.0, patience=0.0))
    await down(breaker)

    with pytest.raises(Retry, match="here is down"):
        async with breaker.call("here"):
            raise AssertionError("no call goes out")


async def test_calls_that_went_out_before_it_was_down_do_not_lengthen_the_pause() -> None:
    breaker = Breaker(Tolerance(failures=1, first=0.01, longest=3600.0, patience=60.0))
    gate = asyncio.Event()

    async def late() -> None:
        async with breaker.call("here"):
            await gate.wait()
            raise Again("x")

    before: list[Callable[[], Awaitable[None]]] = [late] * 20
    tasks = [asyncio.ensure_future(call()) for call in before]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert breaker.down
    async with asyncio.timeout(10), breaker.call("here"):
        pass
