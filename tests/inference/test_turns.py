"""How many calls at once, and whose."""

import asyncio
import contextlib

import pytest

from inference.turns import Turns, lane
from tests import fakes_endpoint as says
from tests.fakes_endpoint import FakeEndpoint, Response
from tests.inference.asking import connected, request


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def round_of(turns: Turns, *, crowded_above: int | None = None) -> None:
    """As many calls at once as the limit lets in; the endpoint turns away those above its capacity."""

    async def call(number: int) -> None:
        async with turns.turn() as turn:
            await settle()
            turn.crowded = crowded_above is not None and number >= crowded_above
            turn.done = not turn.crowded

    await asyncio.gather(*(call(number) for number in range(int(turns.limit))))


async def test_every_answered_call_raises_the_limit_until_the_endpoint_first_says_no() -> None:
    """One more per call is twice as many per round."""
    turns = Turns(most=64, first=4)

    async def call() -> None:
        async with turns.turn() as turn:
            await settle()
            turn.done = True

    await asyncio.gather(*(call() for _ in range(200)))

    assert turns.limit == 64


async def test_the_limit_is_cut_once_a_round_however_many_were_turned_away() -> None:
    """Sixty refusals of one burst are one piece of news."""
    turns = Turns(most=64, first=64)
    await round_of(turns, crowded_above=4)

    assert turns.limit == pytest.approx(64 * 0.7)


@pytest.mark.parametrize("capacity", [3, 10, 40])
async def test_the_limit_finds_the_endpoints_own(capacity: int) -> None:
    turns = Turns(most=64, first=16)
    seen = []
    for _ in range(200):
        await round_of(turns, crowded_above=capacity)
        seen.append(turns.limit)

    assert 0.6 * capacity <= min(seen[100:])
    assert max(seen[100:]) <= capacity + 2


async def test_a_limit_that_nobody_reaches_does_not_grow() -> None:
    turns = Turns(most=64, first=8)
    for _ in range(100):
        async with turns.turn() as turn:
            turn.done = True

    assert turns.limit == 8


async def test_the_lane_with_the_fewest_waiting_goes_first() -> None:
    """An environment with one play left is finished before one with many gets its next."""
    turns, order = Turns(most=1), []

    async def call(name: str) -> None:
        with lane(name):
            async with turns.turn():
                order.append(name)

    async with turns.turn():
        long = [asyncio.create_task(call("long")) for _ in range(3)]
        await settle()
        short = asyncio.create_task(call("short"))
        await settle()
    await asyncio.gather(short, *long)

    assert order == ["short", "long", "long", "long"]


async def test_who_waited_too_long_is_no_longer_overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.turns.OVERTAKEN", -1.0)
    turns, order = Turns(most=1), []

    async def call(name: str) -> None:
        with lane(name):
            async with turns.turn():
                order.append(name)

    async with turns.turn():
        tasks = []
        for name in ("long", "long", "short"):
            tasks.append(asyncio.create_task(call(name)))
            await settle()
    await asyncio.gather(*tasks)

    assert order == ["long", "long", "short"]


async def test_no_turn_is_lost_when_waiting_calls_are_cancelled() -> None:
    """A run that is stopped and goes on must not have fewer turns than before."""
    turns = Turns(most=2)

    async def call() -> None:
        async with turns.turn():
            await asyncio.sleep(0.001)

    tasks = [asyncio.create_task(call()) for _ in range(40)]
    await settle()
    for number, task in enumerate(tasks):
        if number % 3 == 0:
            task.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)

    assert (turns.under_way, turns.waiting) == (0, 0)
    async with asyncio.timeout(5), turns.turn(), turns.turn():
        pass


async def test_a_call_cancelled_as_it_is_let_in_passes_its_turn_on() -> None:
    turns = Turns(most=1)

    async def call() -> None:
        async with turns.turn():
            pass

    async with turns.turn():
        first, second = asyncio.create_task(call()), asyncio.create_task(call())
        await settle()
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    await second

    assert turns.under_way == 0


async def test_an_endpoint_that_takes_five_calls_is_soon_asked_no_more() -> None:
    async with FakeEndpoint() as fake:

        def five_at_most(_: object) -> Response:
            return says.status(429) if fake.under_way > 5 else Response(body=says.text("x").body, hang=0.002)

        fake._script = (five_at_most,)
        endpoint = await connected(fake, retries=50, concurrency=64)
        replies = await asyncio.gather(*(endpoint.complete(request()) for _ in range(300)))

    assert len(replies) == 300
    assert endpoint._turns.limit <= 8
