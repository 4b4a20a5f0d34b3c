"""What the next attempt is told: the last refusal, unless telling it has been in vain or nobody can mend it."""

import pytest

from spade.attempts import Attempt
from spade.feedback import exhausted, worth_telling
from spade.messages import Completion, Sampling
from spade.verdicts import Status, Verdict


def refused(*said: tuple[str, str] | tuple[str, str, Status]) -> list[Attempt]:
    attempts = []
    for number, (gate, message, *status) in enumerate(said):
        verdict = Verdict(gate, status[0] if status else Status.FAIL, message)
        completion = Completion("x", "m", "w")
        attempts.append(Attempt("slot", number, "p", completion, Sampling(), "env", (), (verdict,), gate))
    return attempts


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ([], False),
        ([("a", "x")], True),
        ([("a", "x"), ("b", "y")], True),
        ([("a", "x"), ("a", "x")], False),  # the same words once more: they did not help
        ([("a", "x"), ("a", "y")], True),
        ([("a", "x"), ("a", "y"), ("a", "z")], False),  # told twice of one gate, in vain
        ([("a", "x"), ("a", "x"), ("a", "y")], True),  # the one before started afresh, so only once in vain
        ([("a", "x"), ("a", "x"), ("b", "y")], True),
        ([("a", "x"), ("a", "x"), ("b", "y"), ("a", "x")], False),
        ([("a", "x"), ("b", "y"), ("a", "x")], True),  # it had helped
        ([("a", "x", Status.ERROR)], False),  # nobody can mend what could not be judged
    ],
)
def test_what_never_helps_is_not_repeated(attempts: list[tuple[str, str]], told: bool) -> None:
    assert worth_telling(refused(*attempts)) is told


def test_exhaustion_has_one_reason() -> None:
    assert exhausted(refused(("a", ""), ("b", ""), ("a", ""))) == "a"
    assert exhausted(refused(("a", ""), ("b", ""))) == "b"
    assert exhausted([]) == ""
