"""Ratings predict what was seen, and draws stay where plays teach."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.ratings import Match, Rating, Ratings, draw_in_zone, rated


def matches(rates: dict[str, float], count: int, agent: str = "a") -> list[Match]:
    rng = Random(1)
    return [Match(agent, env_id, rng.random() < rate) for _ in range(count) for env_id, rate in rates.items()]


def test_nobody_seen_is_even() -> None:
    assert Ratings().predicted("new", "unseen") == 0.5


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_predictions_come_near_the_rate_that_was_played(rate: float) -> None:
    assert rated(matches({"e": rate}, 400)).predicted("a", "e") == pytest.approx(rate, abs=0.08)


def test_harder_environments_rate_higher_and_better_agents_too() -> None:
    played = matches({"easy": 0.9, "hard": 0.1}, 100, "old") + matches({"easy": 1.0, "hard": 0.8}, 100, "new")
    found = rated(played)

    assert found.environments["hard"].mean > found.environments["easy"].mean
    assert found.agents["new"].mean > found.agents["old"].mean
    assert found.predicted("new", "hard") > found.predicted("old", "hard")
    assert found.agents["new"].plays == 200


def test_plays_make_surer() -> None:
    few, many = rated(matches({"e": 0.5}, 4)), rated(matches({"e": 0.5}, 100))

    assert many.environments["e"].spread < few.environments["e"].spread < Rating().spread


@given(
    predicted=st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.floats(0, 1), max_size=30),
    count=st.integers(0, 20),
    seed=st.integers(0, 99),
)
def test_a_draw_takes_the_zone_first_and_keeps_a_floor_of_hard_ones(
    predicted: dict[str, float], count: int, seed: int
) -> None:
    drawn = draw_in_zone(list(predicted), predicted, count, Random(seed))
    hard = [e for e in predicted if predicted[e] < 0.3]
    zone = {e for e in predicted if 0.3 <= predicted[e] <= 0.7}

    assert len(drawn) == len(set(drawn)) == min(count, len(predicted))
    assert sum(e in hard for e in drawn) >= min(len(hard), -(-count // 10))
    if not zone <= set(drawn):
        assert sum(e not in zone for e in drawn) <= -(-count // 10)


def test_a_draw_depends_on_its_seed_alone() -> None:
    predicted = {f"e{n}": 0.5 for n in range(20)}

    assert draw_in_zone(list(predicted), predicted, 5, Random(3)) == draw_in_zone(
        list(predicted), predicted, 5, Random(3)
    )
    assert draw_in_zone(list(predicted), predicted, 5, Random(3)) != draw_in_zone(
        list(predicted), predicted, 5, Random(4)
    )
