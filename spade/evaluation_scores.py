"""From stored samples to scores: a mean over tasks with its bootstrap interval, and everything that is missing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from spade.episodes import WIN
from spade.evaluation import Evaluation, Sample
from spade.identity import seed_for
from spade.scores import Interval, bootstrap

ALL = "all"
"""The group of all tasks of a suite."""
MISSING = "missing"
"""The outcome of a sample that is asked for and not stored."""


@dataclass(frozen=True, slots=True)
class GroupScore:
    """One group. `score` is the mean over tasks of the mean over each task's measured samples, None without any.

    `interval` resamples tasks and needs two of them; `answered` is the share of measured samples with an answer,
    `solved` of those with the full score.
    """

    group: str
    tasks: int
    asked: int
    measured: int
    score: float | None
    interval: Interval | None
    answered: float | None
    solved: float | None
    outcomes: tuple[tuple[str, int], ...]

    @property
    def complete(self) -> bool:
        """Whether nothing that was asked is missing from the score."""
        return self.measured == self.asked


def chosen(samples: Iterable[Sample]) -> dict[tuple[str, int], Sample]:
    """One sample a task and number: the first measured attempt, else the last one."""
    best: dict[tuple[str, int], Sample] = {}
    for sample in sorted(samples, key=lambda s: s.attempt):
        key = (sample.task_id, sample.number)
        if key not in best or not best[key].outcome.measured:
            best[key] = sample
    return best


def group_scores(evaluation: Evaluation, samples: Iterable[Sample]) -> tuple[GroupScore, ...]:
    """Each group in the order of its first task, then all tasks together. Samples nobody asked for are left out."""
    best = chosen(samples)
    by_group: dict[str, list[str]] = defaultdict(list)
    for task_id, group in zip(evaluation.task_ids, evaluation.groups, strict=True):
        by_group[group].append(task_id)
    scored = [_group(evaluation, name, task_ids, best) for name, task_ids in by_group.items()]
    return (*scored, _group(evaluation, ALL, evaluation.task_ids, best))


def _group(
    evaluation: Evaluation, name: str, task_ids: Sequence[str], best: Mapping[tuple[str, int], Sample]
) -> GroupScore:
    numbers = range(evaluation.put.protocol.samples)
    found = {task: [best[key] for n in numbers if (key := (task, n)) in best] for task in task_ids}
    there = [sample for samples in found.values() for sample in samples]
    means = [
        fmean(scores) for samples in found.values() if (scores := [s.score for s in samples if s.score is not None])
    ]
    outcomes = Counter(sample.outcome.value for sample in there)
    asked, measured = len(task_ids) * len(numbers), sum(s.outcome.measured for s in there)
    if asked > len(there):
        outcomes[MISSING] = asked - len(there)
    return GroupScore(
        group=name,
        tasks=len(task_ids),
        asked=asked,
        measured=measured,
        score=fmean(means) if means else None,
        interval=bootstrap(means, seed_for(0, evaluation.evaluation_id, name)) if len(means) > 1 else None,
        answered=outcomes["scored"] / measured if measured else None,
        solved=sum((s.score or 0.0) >= WIN for s in there) / measured if measured else None,
        outcomes=tuple(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
    )


def paired_difference(
    one: Iterable[Sample], other: Iterable[Sample], seed: int = 0
) -> tuple[float, Interval | None, int] | None:
    """Mean of `other` less `one` over the tasks measured in both, its interval, how many tasks; None without any."""
    means = [_task_means(one), _task_means(other)]
    shared = sorted(means[0].keys() & means[1].keys())
    if not shared:
        return None
    differences = [means[1][task] - means[0][task] for task in shared]
    interval = bootstrap(differences, seed) if len(differences) > 1 else None
    return fmean(differences), interval, len(shared)


def _task_means(samples: Iterable[Sample]) -> dict[str, float]:
    scores: dict[str, list[float]] = defaultdict(list)
    for sample in chosen(samples).values():
        if sample.score is not None:
            scores[sample.task_id].append(sample.score)
    return {task: fmean(values) for task, values in scores.items()}
