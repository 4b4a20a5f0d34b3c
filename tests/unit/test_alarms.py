"""The Vendi score counts what differs, and alarms name what is amiss."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.alarms import Thresholds, alarm
from spade.curriculum import Curriculum
from spade.summary import CycleRecords, summarise
from spade.vendi import vendi

EMPTY = summarise(CycleRecords("cycle-0", 0, {}, [], [], [], 0), rows=0, dataset_id="", seconds=1.0)


@pytest.mark.parametrize("count", [1, 3, 7])
def test_things_with_nothing_in_common_count_each(count: int) -> None:
    assert vendi([[float(i == j) for j in range(count)] for i in range(count)]) == pytest.approx(count)


def test_things_all_alike_count_once() -> None:
    assert vendi([[1.0, 2.0]] * 5) == pytest.approx(1.0)
    assert vendi([]) is None


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda v: sum(map(abs, v)) > 0.1), min_size=1)
)
def test_the_score_lies_between_one_and_the_number(vectors: list[list[float]]) -> None:
    score = vendi(vectors)
    assert score is not None
    assert 1 - 1e-6 <= score <= len(vectors) + 1e-6


ENOUGH, POOR = Curriculum(vendi=60.0, vendi_of=200), Curriculum(vendi=50.0, vendi_of=200)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slots": 4, "dropped": 3}, "3 of 4 slots"),
        ({"episodes": 10, "measured": 4}, "6 of 10 plays"),
        ({"curriculum": POOR}, "latest 200 environments are only 50.0 really different"),
        ({"curriculum": Curriculum(vendi=1.0, vendi_of=19)}, ""),
        ({"slots": 4, "dropped": 1, "episodes": 10, "measured": 9, "curriculum": ENOUGH}, ""),
    ],
)
def test_an_alarm_names_what_is_amiss(changes: dict[str, Any], words: str) -> None:
    found = alarm(replace(EMPTY, **changes), Thresholds(0.3, 0.5, 0.5))
    assert words in found
    assert bool(found) is bool(words)


def test_without_thresholds_there_is_no_alarm() -> None:
    assert alarm(replace(EMPTY, slots=4, dropped=4, episodes=4, curriculum=POOR), Thresholds()) == ""
