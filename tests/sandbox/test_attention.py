"""Waiting awake: worth while with a partner that answers at once, given up on one that does not."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.driver import attention
from sandbox.driver.attention import MOST_DOUBT, Attention


class Partner:
    """Answers after so many questions; a clock on the side that moves with every look at it."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.asked = 0
        self.now = 0.0

    def ask(self) -> str | None:
        self.asked += 1
        return "here" if self.asked > self.after else None

    def clock(self) -> float:
        self.now += 10e-6
        return self.now


@pytest.fixture
def partner(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Any]:
    def made(after: int) -> Partner:
        it = Partner(after)
        monkeypatch.setattr(attention, "clock", it.clock)
        return it

    return made


def test_an_answer_within_the_moment_is_taken(partner: Callable[[int], Any]) -> None:
    assert Attention(awake=100e-6).look(partner(5).ask) == "here"


def test_a_look_in_vain_ends_and_the_next_are_left_out_twice_as_long_each_time(partner: Callable[[int], Any]) -> None:
    slow, eyes = partner(10**9), Attention(awake=50e-6)
    left_out = []
    for _ in range(4):
        assert eyes.look(slow.ask) is None
        count, before = 0, slow.asked
        while eyes.asleep:
            eyes.look(slow.ask)
            count += 1
        assert slow.asked == before, "asleep, nobody is asked"
        left_out.append(count)
    assert left_out == [2, 4, 8, 16]
    for _ in range(10_000):
        eyes.look(slow.ask)
    assert eyes.doubt == MOST_DOUBT


def test_one_success_restores_trust(partner: Callable[[int], Any]) -> None:
    eyes = Attention()
    eyes.look(partner(10**9).ask)
    quick = partner(0)
    while eyes.look(quick.ask) is None:
        pass
    assert eyes.doubt == 1


def test_the_first_waits_can_be_slept_through(partner: Callable[[int], Any]) -> None:
    eyes, quick = Attention(asleep=1), partner(0)
    assert eyes.look(quick.ask) is None
    assert quick.asked == 0
    assert eyes.look(quick.ask) == "here"


def test_on_one_core_nobody_is_waited_for_awake(monkeypatch: pytest.MonkeyPatch, partner: Callable[[int], Any]) -> None:
    monkeypatch.setattr(attention.os, "sched_getaffinity", lambda _: {0})
    eyes, quick = Attention(), partner(0)
    assert [eyes.look(quick.ask) for _ in range(1000)] == [None] * 1000
    assert quick.asked == 0


def test_a_system_that_does_not_tell_its_cores_is_taken_to_have_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(attention.os, "sched_getaffinity")
    assert not attention.one_core()
