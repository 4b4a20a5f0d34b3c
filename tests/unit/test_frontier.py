"""Smooth rewards, replay and the hinted audit, with worked numbers."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.auditing import hinted_environments
from spade.frontier import Measured, Trackers, frontier_rewards, posterior_mean, tent, variance
from spade.replay import Known, replayed
from spade.training_settings import FrontierSettings


@pytest.mark.parametrize(
    ("rate", "as_tent", "as_variance"), [(0.5, 1, 1), (0, 0, 0), (1, 0, 0), (0.25, 0.5, 0.75), (0.9, 0.2, 0.36)]
)
def test_frontier_rewards_are_smooth_and_peak_at_an_even_win_rate(
    rate: float, as_tent: float, as_variance: float
) -> None:
    assert tent(rate) == pytest.approx(as_tent)
    assert variance(rate) == pytest.approx(as_variance)


def test_shrinkage_holds_a_win_rate_at_what_is_known_of_its_kind() -> None:
    """8 of 8 wins held by 8 pseudo-plays at 0.5 is 0.75; by none it is 1."""
    assert posterior_mean(8, 8, 0.5, 8) == 0.75
    assert posterior_mean(8, 8, 0.5, 0) == 1.0


def test_the_prior_is_earlier_cycles_and_the_others_of_this_one() -> None:
    """Others of the kind won 0 of 14, with the uninformed 1 of 2 a prior of 1/16; 8 wins of 8 become (8 + 0.5) / 16."""
    settings = FrontierSettings(reward="tent", shrinkage=8)
    measured = [Measured("walk", 8, 8, 1.0, 0.0), Measured("walk", 0, 14, 0.0, 0.0), Measured("guess", 4, 8, 0.5, 1.0)]
    rewards, trackers = frontier_rewards(measured, settings, Trackers())
    assert rewards[0] == pytest.approx(tent(8.5 / 16))
    assert rewards[2] == pytest.approx(1.0)
    assert trackers.counts["walk"] == pytest.approx((5.6, 15.4))
    later, _ = frontier_rewards([Measured("walk", 8, 8, 1.0, 0.0)], settings, trackers)
    assert later[0] == pytest.approx(tent((8 + 8 * 6.6 / 17.4) / 16))


def test_learning_potential_is_the_distance_to_the_slow_mean_updated_first() -> None:
    settings = FrontierSettings(reward="learning_potential")
    rewards, trackers = frontier_rewards([Measured("a", 4, 8, 0.6, 0.1)], settings, Trackers({}, {"a": 0.2}))
    assert trackers.slow["a"] == pytest.approx(0.85 * 0.6 + 0.15 * 0.2)
    assert rewards[0] == pytest.approx(0.06)


def test_the_stored_reward_is_the_default_and_nothing_measured_is_no_number() -> None:
    rewards, _ = frontier_rewards(
        [Measured("a", 4, 8, 0.6, 0.1), Measured("a", 0, 0, 0, None)], FrontierSettings(), Trackers()
    )
    assert rewards == [0.1, None]


KNOWN = [Known("hard", 0.0, 0), Known("even", 0.5, 3), Known("old", 1.0, 0), Known("new", 1.0, 9)]


def test_replay_draws_in_band_and_stale_mastered_ones() -> None:
    """Of two mastered ones the one last played ten cycles ago is drawn ten times as often as the latest."""
    draws = [replayed(KNOWN, in_band=1, mastered=1, now=9, rng=Random(seed)) for seed in range(2000)]
    assert all(d[0] == "even" for d in draws)
    assert 0.87 < sum(d[1] == "old" for d in draws) / 2000 < 0.95
    assert all("hard" not in d for d in draws)


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(0, 6), st.integers(0, 6))
def test_replay_draws_each_at_most_once_and_no_more_than_asked(rates: list[float], band: int, mastered: int) -> None:
    known = [Known(f"env-{n}", rate, n) for n, rate in enumerate(rates)]
    drawn = replayed(known, in_band=band, mastered=mastered, now=20, rng=Random(0))
    assert len(set(drawn)) == len(drawn) <= band + mastered


def test_hints_are_audited_and_switched_on_while_they_pay() -> None:
    envs = [f"env-{n}" for n in range(40)]

    def hinted(regrets: list[float], threshold: float | None = 0.1) -> int:
        return len(hinted_environments(envs, threshold=threshold, share=0.05, regrets=regrets, seed=1, cycle=2))

    assert hinted([], None) == 40
    assert hinted([]) == 2
    assert hinted([0.05, 0.1]) == 2
    assert hinted([0.05, 0.3]) == 40
