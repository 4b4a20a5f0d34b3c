import pytest

from spade.leaks import judge_hint
from spade.prompting import render
from spade.verdicts import Status

CODE = render("skeleton_games.txt")
LOCK = {1: ("4 0 9",), 2: ("7 7 1",), 3: ("0 3 5",), 4: ("8 2 2",), 5: ("6 1 0",)}
SEEN = dict.fromkeys(LOCK, "Three dials answer 'higher' or 'lower'. Write \\boxed{4 0 9}.")
FERRY = {
    1: ("load flax", "load ivory", "sail"),
    2: ("load anvils", "load barley", "sail"),
    3: ("load hides", "load drums", "sail"),
}
QUAY = dict.fromkeys(FERRY, "Actions: 'load NAME', 'unload NAME', 'sail'.")


def verdicts(text: str, *, ferry: bool = False) -> list[tuple[str, Status]]:
    found = judge_hint(text, CODE, FERRY if ferry else LOCK, QUAY if ferry else SEEN, max_words=30)
    return [(v.gate, v.status) for v in found]


@pytest.mark.parametrize(
    "text",
    [
        "Start in the middle and halve what is left after each reply; treat the dials apart.",
        "Try 5 first, then move towards the side that the reply names.",
    ],
)
def test_a_hint_on_how_to_reason_passes(text: str) -> None:
    assert verdicts(text) == [("hint.length", Status.PASS), ("hint.no_leak", Status.PASS)]


@pytest.mark.parametrize("text", ["Try 7 7 1.", "The code is 7-7-1, surely.", "Set 8, 2, 2 and be done."])
def test_a_hint_that_names_a_solution_is_refused(text: str) -> None:
    assert ("hint.no_leak", Status.FAIL) in verdicts(text)


def test_menu_words_are_no_leak_and_rare_values_are() -> None:
    assert ("hint.no_leak", Status.PASS) in verdicts("Load what has most value per weight, then sail.", ferry=True)
    assert ("hint.no_leak", Status.FAIL) in verdicts("The flax and the ivory go together.", ferry=True)


def test_a_hint_that_copies_statements_is_refused() -> None:
    text = "right equals sum g c for g c in zip guess self code value"

    assert ("hint.no_leak", Status.FAIL) in verdicts(text)


def test_a_hint_must_be_short_and_not_empty() -> None:
    assert verdicts("word " * 31)[0] == ("hint.length", Status.FAIL)
    assert verdicts("  ")[0] == ("hint.length", Status.FAIL)


def test_without_solutions_nothing_is_known_and_nothing_passes() -> None:
    assert judge_hint("Think.", CODE, {}, {})[1].status is Status.ERROR
