"""Long tasks get a bar, short ones none."""

import asyncio

import pytest

from tasks.advancing import Advance, advancing


class Shown(Advance):
    """Keeps what would be sent to the server."""

    def __init__(self, after: float) -> None:
        self.now = 0.0
        super().__init__("Slots", after=after, clock=lambda: self.now)
        self.percents: list[float] = []

    async def _show(self, percent: float) -> None:
        self.percents.append(percent)


async def test_a_short_task_gets_none() -> None:
    bar = Shown(after=30.0)
    for done in range(10):
        bar.now += 1.0
        await bar.at(done, 10)
    await bar.end()
    assert bar.percents == []


async def test_a_long_task_shows_a_percentage_now_and_then() -> None:
    bar = Shown(after=30.0)
    for done in range(100):
        bar.now += 1.0
        await bar.at(done, 100)
    assert bar.percents == [29.0, 39.0, 49.0, 59.0, 69.0, 79.0, 89.0, 99.0]


async def test_results_keep_their_order_and_a_failure_ends_the_rest() -> None:
    async def after(seconds: float, value: int) -> int:
        await asyncio.sleep(seconds)
        if value < 0:
            raise ValueError(value)
        return value

    assert await advancing(Shown(after=0.0), [after(0.02, 1), after(0.0, 2)]) == [1, 2]
    with pytest.raises(ValueError, match="-1"):
        await advancing(Shown(after=0.0), [after(60.0, 1), after(0.0, -1)])
