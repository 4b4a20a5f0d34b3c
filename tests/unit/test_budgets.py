"""Budgets: what stops a slice, and in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.budgets import Allowance, Allowed, Spent

amounts = st.builds(
    Spent,
    st.integers(0, 10**9),
    st.integers(0, 10**12),
    st.floats(0, 1e6, allow_nan=False),
    st.floats(0, 1e7, allow_nan=False),
)


@given(amounts, amounts)
def test_spending_adds_up(one: Spent, other: Spent) -> None:
    both = one + other
    assert both.episodes == one.episodes + other.episodes
    assert (both - other).tokens == one.tokens


@given(amounts, amounts)
def test_without_limits_nothing_stops(sliced: Spent, total: Spent) -> None:
    assert Allowance().reason(sliced, total, 10**15) == ""


@given(amounts, st.sampled_from(["episodes", "tokens", "cost", "seconds"]))
def test_exactly_the_amount_that_is_used_up_is_named(spent: Spent, name: str) -> None:
    allowed = Allowed(**{name: getattr(spent, name) or 1})
    reached = getattr(spent, name) >= getattr(allowed, name)

    assert bool(Allowance(slice=allowed).reason(spent, Spent(), 0)) is reached
    assert bool(Allowance(total=allowed).reason(Spent(), spent, 0)) is reached


def test_the_reason_names_slice_or_total_and_both_figures() -> None:
    spent = Spent(episodes=500, seconds=90)
    assert "slice's budget is spent: 500 of 400 episodes" in Allowance(Allowed(episodes=400)).reason(spent, spent, 0)
    assert "total's budget is spent: 1.5 of 1.0 minutes" in Allowance(total=Allowed(seconds=60)).reason(spent, spent, 0)
    assert "spade maintain" in Allowance(disk_bytes=2**20).reason(spent, spent, 2**21)


@pytest.mark.parametrize(("reserved", "stops"), [(0, False), (3, False), (4, True)])
def test_what_slots_under_way_will_play_counts(reserved: int, stops: bool) -> None:
    allowance = Allowance(Allowed(episodes=8))
    assert bool(allowance.reason(Spent(episodes=4), Spent(), 0, Spent(episodes=reserved))) is stops
