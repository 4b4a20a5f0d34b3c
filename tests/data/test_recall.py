"""Which remembered environments a designer sees."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.recall import Remembered, good_examples, replay_weights

regrets = st.lists(st.none() | st.floats(-1, 1), min_size=1, max_size=12)


def remembered(name: str, win_rate: float | None, regret: float | None = 0.1, order: int = 0) -> Remembered:
    return Remembered(f"env-{name}", name, "", win_rate, regret, order)


@given(regrets)
def test_weights_are_probabilities_and_higher_regret_never_weighs_less(values: list[float | None]) -> None:
    weights = replay_weights(values, [0] * len(values), staleness=0.0)
    assert sum(weights) == pytest.approx(1.0)
    ranked = sorted(range(len(values)), key=lambda i: (values[i] is None, -(values[i] or 0.0)))
    assert all(weights[a] >= weights[b] for a, b in pairwise(ranked) if values[a] != values[b])


def test_weights_of_three_worked_by_hand() -> None:
    """Ranks 1, 2, 3 at T 0.5 weigh 1, 1/4, 1/9; ages 2, 1, 0 take a share of 0.1."""
    weights = replay_weights([0.3, 0.2, 0.1], [1, 2, 3], staleness=0.1, temperature=0.5)
    total = 1 + 1 / 4 + 1 / 9
    assert weights == pytest.approx([0.9 / total + 0.1 * 2 / 3, 0.9 / 4 / total + 0.1 / 3, 0.9 / 9 / total])


def test_examples_are_in_the_band_distinct_and_repeatable() -> None:
    known = [remembered(f"{i}", i / 20, regret=i / 20, order=i) for i in range(21)]
    drawn = good_examples(known, 3, Random(1))
    assert len({e.env_id for e in drawn}) == 3
    assert all(0.15 <= (e.win_rate or 0) <= 0.85 for e in drawn)
    assert drawn == good_examples(known, 3, Random(1))
    assert len(good_examples(known[:4], 3, Random(1))) == 1


def test_the_highest_regret_is_shown_most_often() -> None:
    known = [remembered("low", 0.5, 0.05), remembered("high", 0.5, 0.5), remembered("none", 0.5, None)]
    first = [good_examples(known, 1, Random(seed))[0].title for seed in range(200)]
    assert first.count("high") > 150 > 5 > first.count("none")
