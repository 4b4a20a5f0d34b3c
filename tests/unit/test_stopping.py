"""When an arm may end early, with worked numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.stopping import Stopping, enough, half_width, waves

RULE = Stopping(floor=8, step=4, half_width=0.2)


def test_the_interval_has_its_published_length() -> None:
    """Wilson 1927; 0 of 10 and 5 of 10 as in Brown, Cai and DasGupta 2001."""
    assert half_width(0, 10) == pytest.approx(0.2775 / 2, abs=1e-4)
    assert half_width(5, 10) == pytest.approx((0.7634 - 0.2366) / 2, abs=1e-4)
    assert half_width(0, 0) == 0.5


def test_what_is_lost_or_won_throughout_is_settled_at_the_floor_and_an_even_rate_is_not() -> None:
    assert enough([False] * 8, RULE)
    assert enough([True] * 8, RULE)
    assert not enough([False] * 7, RULE)
    assert not enough([True, False] * 4, RULE)
    assert not enough([None] * 8 + [False] * 7, RULE), "what was not measured settles nothing"


@given(st.lists(st.booleans(), max_size=60))
def test_more_plays_of_the_same_rate_never_widen_the_interval(won: list[bool]) -> None:
    assert half_width(2 * sum(won), 2 * len(won)) <= half_width(sum(won), len(won))


@given(st.lists(st.one_of(st.none(), st.booleans()), max_size=40))
def test_never_below_the_floor(won: list[bool | None]) -> None:
    if enough(won, RULE):
        assert sum(w is not None for w in won) >= RULE.floor


@given(st.integers(0, 50), st.integers(1, 9), st.integers(1, 9))
def test_waves_hold_every_play_once_in_order(count: int, floor: int, step: int) -> None:
    items = list(range(count))
    assert [i for wave in waves(items, Stopping(floor, step, 0.2)) for i in wave] == items
    assert list(waves(items, None)) == [items]
