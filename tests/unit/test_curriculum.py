"""What a cycle's curriculum says, with worked cases."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.curriculum import Curriculum, Tier, TierRate, curriculum, tier_of, tier_rates
from spade.environments import Environment
from spade.ratings import Match, Rating, Ratings, rated
from spade.skills import Setting, Skill


def environment(name: str, mechanic: str = "narrowing") -> Environment:
    return Environment(f"class {name}Env: ...", Setting.GAMES, Skill.OPTIMIZATION, name, mechanic)


@pytest.mark.parametrize(("mean", "tier"), [(10.0, Tier.EASY), (25.0, Tier.MIDDLE), (40.0, Tier.HARD)])
def test_a_tier_is_what_a_reference_agent_would_meet(mean: float, tier: Tier) -> None:
    assert tier_of(Ratings(environments={"e": Rating(mean, 1.0)}), "e") is tier


def test_tiers_do_not_move_when_the_agent_learns() -> None:
    """Otherwise every environment would become easy, and the curve of the hard ones would end."""
    rating = {"e": Rating(40.0, 1.0)}
    weak, strong = Ratings({"a": Rating(10.0)}, rating), Ratings({"a": Rating(60.0)}, rating)
    assert tier_of(weak, "e") is tier_of(strong, "e") is Tier.HARD


def test_every_play_is_counted_in_one_tier() -> None:
    rng = Random(1)
    rates = {"easy": 1.0, "even": 0.5, "hard": 0.0}
    matches = [Match("a", env, rng.random() < rate) for _ in range(60) for env, rate in rates.items()]

    easy, middle, hard = tier_rates(matches, rated(matches))

    assert (easy.tier, easy.plays, easy.win_rate) == (Tier.EASY, 60, 1.0)
    assert (middle.tier, middle.environments) == (Tier.MIDDLE, 1)
    assert (hard.tier, hard.wins, hard.win_rate) == (Tier.HARD, 0, 0.0)


def test_a_cycle_in_figures() -> None:
    matches = [Match("old", "e", False), Match("new", "e", True), Match("new", "f", True)]
    made = [environment("A"), environment("B"), environment("C", "routing")]

    found = curriculum(matches, rated(matches), made, vendi=2.4, vendi_of=3)

    assert found.agent == "new"
    assert found.agent_rating is not None
    assert found.agent_rating > 25 > (found.difficulty or 99)
    assert found.mode_share == pytest.approx(2 / 3)
    assert found.vendi_share == pytest.approx(0.8)
    assert sum(t.plays for t in found.tiers) == 3


def test_nothing_measured_is_none_and_no_number() -> None:
    found = curriculum([], Ratings(), [], vendi=None, vendi_of=0)
    assert found == Curriculum(tiers=tuple(TierRate(tier, 0, 0, 0) for tier in Tier))
    assert [t.win_rate for t in found.tiers] == [None] * 3
    assert found.vendi_share is None


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("efg"), st.booleans()), max_size=20), st.integers(0, 20)
)
def test_going_on_from_stored_ratings_is_the_same_as_rating_all_at_once(
    played: list[tuple[str, str, bool]], cut: int
) -> None:
    matches = [Match(*p) for p in played]
    assert rated(matches[cut:], rated(matches[:cut])) == rated(matches)
