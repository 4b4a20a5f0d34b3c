"""Scores of held-out suites: means over tasks, nothing dropped, nothing made up."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.evaluation import Evaluation, Protocol, Put, Sample, SampleOutcome, SuiteCard
from spade.evaluation_scores import ALL, chosen, group_scores, paired_difference

CARD = SuiteCard("sums", "1", "Sums", "here", "none", "additions")
PUT = Put("m", "w", CARD, (), Protocol(samples=2))
ENDS = st.sampled_from(list(SampleOutcome))


def evaluation(tasks: int, groups: int = 1) -> Evaluation:
    return Evaluation(PUT, tuple(f"t{n}" for n in range(tasks)), tuple(f"g{n % groups}" for n in range(tasks)))


def sample(task: int, number: int = 0, score: float | None = 1.0, attempt: int = 0, **values: object) -> Sample:
    outcome = SampleOutcome.SCORED if score is not None else SampleOutcome.MODEL_ERROR
    made = Sample(PUT.settings_id, f"t{task}", "g0", number, attempt, outcome, score)
    return replace(made, **values)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), ENDS, st.floats(0, 1)), max_size=20))
def test_every_sample_asked_for_is_counted_once(found: list[tuple[int, int, SampleOutcome, float]]) -> None:
    """Whatever is stored, twice or not at all, the counts of a group add up to what was asked."""
    samples = [
        sample(task, number, score if outcome.measured else None, attempt, outcome=outcome)
        for attempt, (task, number, outcome, score) in enumerate(found)
    ]
    for scored in group_scores(evaluation(5, groups=2), samples):
        assert sum(count for _, count in scored.outcomes) == scored.asked == scored.tasks * 2
        assert scored.measured == sum(n for name, n in scored.outcomes if name in ("scored", "no_answer", "cut_short"))
        assert (scored.score is None) == (scored.measured == 0)
        assert scored.score is None or 0 <= scored.score <= 1
        assert scored.interval is None or scored.interval.low <= scored.score <= scored.interval.high


def test_a_score_is_the_mean_over_tasks_not_over_samples() -> None:
    whole = group_scores(evaluation(2), [sample(0, 0, 1.0), sample(0, 1, 1.0), sample(1, 0, 0.0)])[-1]
    assert (whole.group, whole.score, whole.measured, whole.asked) == (ALL, 0.5, 3, 4)
    assert whole.outcomes == (("scored", 3), ("missing", 1))
    assert not whole.complete


def test_nothing_measured_is_no_score() -> None:
    whole = group_scores(evaluation(2), [sample(0, 0, None)])[-1]
    assert (whole.score, whole.interval, whole.answered, whole.solved) == (None, None, None, None)


def test_a_later_try_replaces_a_failed_one_and_never_a_measured_one() -> None:
    failed, right, again = sample(0, 0, None), sample(0, 0, 1.0, attempt=1), sample(0, 0, 0.0, attempt=2)
    assert chosen([again, failed, right]) == {("t0", 0): right}


def test_the_interval_is_over_tasks() -> None:
    """Two tasks, one always right and one never: any resample of one task alone is possible."""
    whole = group_scores(evaluation(2), [sample(t, n, float(t)) for t in (0, 1) for n in (0, 1)])[-1]
    assert whole.interval is not None
    assert (whole.interval.low, whole.interval.high) == (0.0, 1.0)


def test_paired_differences_are_over_shared_tasks() -> None:
    one, other = [sample(0, 0, 0.0), sample(1, 0, 1.0)], [sample(1, 0, 0.5), sample(2, 0, 1.0)]
    difference, interval, tasks = paired_difference(one, other) or pytest.fail("tasks are shared")
    assert (difference, interval, tasks) == (-0.5, None, 1)
    assert paired_difference(one, [sample(2)]) is None


def test_more_samples_belong_to_the_same_settings() -> None:
    """Asking for more goes on where fewer ended; any other change of the protocol starts anew."""
    assert replace(PUT, protocol=replace(PUT.protocol, samples=8)).settings_id == PUT.settings_id
    for change in ({"temperature": 1.0}, {"max_tokens": 9}, {"system": "Be brief."}, {"seed": 1}):
        assert replace(PUT, protocol=replace(PUT.protocol, **change)).settings_id != PUT.settings_id
    assert replace(PUT, weights="other").settings_id != PUT.settings_id
    assert replace(PUT, suite=replace(CARD, version="2")).settings_id != PUT.settings_id
