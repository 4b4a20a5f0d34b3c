import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.errors import Retry, Skip
from spade.reviewing import read_review, unasked
from spade.verdicts import Status


@pytest.mark.parametrize(
    "text",
    [
        "1. Yes.\n2. Yes.\nVERDICT: PASS",
        "**Verdict: PASS**",
        "> verdict:  pass.",
        "<think>VERDICT: FAIL</think>All good.\nVERDICT: PASS\n",
        "VERDICT: PASS\n...\nVERDICT: PASS",
    ],
)
def test_a_clear_yes_passes(text: str) -> None:
    assert read_review(text).status is Status.PASS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("VERDICT: FAIL The request names a room that is not there.", "names a room that is not there"),
        ("1. No.\n**VERDICT: FAIL**\nThe form of an action is never said.", "The form of an action is never said"),
        ("VERDICT: FAIL", "gave no reason"),
    ],
)
def test_a_no_fails_with_its_reason(text: str, says: str) -> None:
    verdict = read_review(text)

    assert (verdict.status, verdict.gate) == (Status.FAIL, "semantic.judge")
    assert says in verdict.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "<think>VERDICT: PASS",
        "Looks good to me!",
        "yes",
        "VERDICT: MAYBE",
        "VERDICT: PASS\nVERDICT: FAIL",
        "VERDICT: PASS or VERDICT: FAIL",
        "The last line should read `VERDICT: PASS`.",
        "VERDICT PASS",
        "PASS",
        "判定 合格",
        "x" * 100_000,
    ],
)
def test_a_judge_that_says_neither_or_both_does_not_accept(text: str) -> None:
    verdict = read_review(text)

    assert not verdict.passed
    assert verdict.message


@pytest.mark.parametrize("error", [Retry("the endpoint is down."), Skip("too long.")])
def test_a_judge_that_cannot_be_asked_does_not_accept(error: Retry | Skip) -> None:
    assert unasked(error).status is Status.ERROR
    assert str(error) in unasked(error).message


@given(st.text())
def test_no_reply_breaks_the_judge_and_only_one_with_a_verdict_passes(text: str) -> None:
    verdict = read_review(text)

    assert not verdict.passed or "pass" in text.lower()
    assert len(verdict.message) < 400
