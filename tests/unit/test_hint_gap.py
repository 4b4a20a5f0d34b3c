import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.hint_gap import GapTask, Place, environment_of, placed, read_tasks, refused_hint, wilson
from spade.scores import ArmScore, Score


def arm(wins: int, plays: int) -> ArmScore:
    return ArmScore(plays, plays, wins, wins / plays if plays else None, wins / plays if plays else None)


def test_the_interval_is_wilsons() -> None:
    """8 of 10 (Brown, Cai and DasGupta 2001 give 0.49 to 0.94)."""
    interval = wilson(8, 10)
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson(0, 0) is None


@given(st.integers(0, 50), st.integers(1, 50))
def test_an_interval_holds_its_rate(wins: int, plays: int) -> None:
    wins = min(wins, plays)
    interval = wilson(wins, plays)
    assert interval is not None
    assert 0.0 <= interval.low <= wins / plays + 1e-12
    assert wins / plays - 1e-12 <= interval.high <= 1.0


@pytest.mark.parametrize(
    ("plain", "hinted", "place", "sure"),
    [
        ((200, 200), (200, 200), Place.MASTERED, True),
        ((8, 8), (8, 8), Place.MASTERED, False),
        ((100, 200), (0, 200), Place.FRONTIER, True),
        ((0, 200), (150, 200), Place.FRONTIER, True),
        ((0, 8), (2, 8), Place.FRONTIER, False),
        ((0, 200), (0, 200), Place.HOPELESS, True),
        ((0, 8), (0, 0), Place.HOPELESS, False),
        ((0, 0), (5, 8), Place.UNKNOWN, False),
    ],
)
def test_places(plain: tuple[int, int], hinted: tuple[int, int], place: Place, sure: bool) -> None:
    scored = Score("audit", "env-1", arm(*plain), arm(*hinted), "blend")
    assert placed(scored, wilson(*plain), wilson(*hinted)) == (place, sure)


def test_lines_that_are_no_task_are_named() -> None:
    good = {"prompt": "2 + 2?", "answer": 4}
    bad = ["{", "[]", "{}", '{"prompt": "x"}', '{"prompt": 3, "answer": "4"}', '{"prompt": "\\ud800", "answer": "4"}']
    tasks, broken = read_tasks([*bad, "", json.dumps(good), json.dumps(good), "[" * 99_999])
    assert tasks == [GapTask("2 + 2?", "4")]
    assert [number for number, _ in broken] == [1, 2, 3, 4, 5, 6, 9, 10]
    assert "neither an answer nor a checker" in broken[3][1]


@pytest.mark.parametrize(
    ("hint", "refused"),
    [
        ("Count both sides and compare.", False),
        ("It is 4.", True),
        ("The result is forty-two.", False),
        ("", True),
        ("word " * 101, True),
    ],
)
def test_hints_that_say_the_answer(hint: str, refused: bool) -> None:
    assert (refused_hint(hint, GapTask("2 + 2?", "4"), 100) is not None) == refused


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_a_program(prompt: str, answer: str) -> None:
    """Quotes, braces and line breaks of a task never become code."""
    compile(environment_of(GapTask(prompt, answer)).code, "<task>", "exec")
