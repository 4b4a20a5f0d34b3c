import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.errors import Skip
from spade.reviews import Review, agreement, cohen_kappa, drawn


def verdict(row: int, reviewer: str, correct: bool = True, style: int = 3) -> Review:
    return Review(f"row-{row}", "dataset-1", f"ep-{row}", reviewer, correct, style, 4)


def test_kappa_of_a_known_table() -> None:
    """20 yes and yes, 15 no and no, 5 and 10 mixed: 0.7 seen, 0.5 by chance."""
    verdicts = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa(verdicts) == pytest.approx(0.4)


def test_weighted_kappa_forgives_neighbours() -> None:
    near, far = [(1, 2), (5, 4), (3, 3)], [(1, 5), (5, 1), (3, 3)]
    squares = lambda a, b: float((a - b) ** 2)  # noqa: E731
    assert cohen_kappa(near, squares) == pytest.approx(1 - (2 / 3) / (30 / 9))
    assert (cohen_kappa(far, squares) or 0) < 0 < (cohen_kappa(near, squares) or 0)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=30))
def test_kappa_is_one_only_for_equal_verdicts(verdicts: list[tuple[int, int]]) -> None:
    kappa = cohen_kappa(verdicts)
    if kappa is not None:
        assert kappa <= 1
        assert (kappa == 1) == all(a == b for a, b in verdicts)


def test_agreement_counts_shared_rows_alone() -> None:
    reviews = [
        *(verdict(row, "ada", row != 2) for row in range(4)),
        *(verdict(row, "ben", row != 2, style=3 + (row == 0)) for row in range(3)),
    ]
    found = {each.question: each for each in agreement(reviews)}
    assert (found["correct"].rows, found["correct"].share, found["correct"].kappa) == (3, 1.0, 1.0)
    assert found["style"].share == pytest.approx(2 / 3)
    assert found["grounding"].kappa is None  # everybody always says 4
    assert agreement([])[0].share is None


@pytest.mark.parametrize("wrong", [{"style": 0}, {"style": 6}, {"grounding": True}, {"correct": 1}, {"reviewer": " "}])
def test_a_verdict_off_the_scale_is_refused(wrong: dict[str, object]) -> None:
    fields = {"reviewer": "ada", "correct": True, "style": 3, "grounding": 3, **wrong}
    with pytest.raises(Skip):
        Review("row-1", "dataset-1", "ep-1", **fields)  # type: ignore[arg-type]


def test_a_draw_is_the_same_for_the_same_seed() -> None:
    rows = [f"row-{n}" for n in range(50)]
    assert drawn(rows, 5, 1, "d") == drawn(reversed(rows), 5, 1, "d") != drawn(rows, 5, 2, "d")
    assert drawn(rows[:3], 5, 1, "d") == rows[:3]
