"""What people say about exported rows: the queue of rows that wait, the verdicts, and how far reviewers agree."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from spade.errors import Skip
from spade.identity import content_id, rng_for

SCALE = (1, 2, 3, 4, 5)
QUESTIONS = ("correct", "style", "grounding")


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """One exported row that waits for reviewers; of pairs, `episode_id` is the win."""

    row_id: str
    dataset_id: str
    episode_id: str


@dataclass(frozen=True, slots=True)
class Review:
    """One person's verdict on one row: whether it is correct as labelled, and 1 (poor) to 5 (good) for how it is
    written and for how well it rests on its document. Raises `Skip` for other numbers, or without a reviewer.
    """

    row_id: str
    dataset_id: str
    episode_id: str
    reviewer: str
    correct: bool
    style: int
    grounding: int
    comment: str = ""

    def __post_init__(self) -> None:
        for name in ("style", "grounding"):
            if type(value := getattr(self, name)) is not int or value not in SCALE:
                raise Skip(f"{name} is {value!r}.", "Give a whole number from 1 to 5.")
        if type(self.correct) is not bool:
            raise Skip(f"correct is {self.correct!r}.", "Give true or false.")
        if not self.reviewer.strip():
            raise Skip("the review names no reviewer.", "Give one, as with --reviewer NAME.")

    @property
    def review_id(self) -> str:
        """A person says one thing about a row; the first stands."""
        return content_id("review", self.row_id, self.reviewer)


def drawn(row_ids: Iterable[str], count: int, seed: int, dataset_id: str) -> list[str]:
    """`count` of the rows at random, or all when there are fewer; the same for the same seed."""
    ids = sorted(set(row_ids))
    return sorted(rng_for(seed, "review", dataset_id).sample(ids, min(count, len(ids))))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over rows that several people reviewed. `share`: pairs of verdicts that are equal, in [0, 1].

    `kappa`: Cohen's, the mean over pairs of reviewers weighted by rows in common (Light 1971); None where chance alone
    would make all agree. `rows` and `pairs` count what it rests on.
    """

    question: str
    rows: int
    pairs: int
    share: float | None
    kappa: float | None


def agreement(reviews: Sequence[Review]) -> tuple[Agreement, ...]:
    """One result a question: nominal for `correct`, with quadratic weights for the two scales."""
    return tuple(_agreement(reviews, question) for question in QUESTIONS)


def _agreement(reviews: Sequence[Review], question: str) -> Agreement:
    said: dict[str, dict[str, int]] = defaultdict(dict)
    for review in reviews:
        said[review.row_id].setdefault(review.reviewer, int(getattr(review, question)))
    shared = {row: verdicts for row, verdicts in said.items() if len(verdicts) > 1}
    pairs = _by_pair(shared)
    equal = [a == b for verdicts in pairs.values() for a, b in verdicts]
    distance = _nominal if question == "correct" else _quadratic
    kappas = [(len(verdicts), k) for verdicts in pairs.values() if (k := cohen_kappa(verdicts, distance)) is not None]
    weight = sum(count for count, _ in kappas)
    kappa = sum(count * k for count, k in kappas) / weight if weight else None
    return Agreement(question, len(shared), len(equal), sum(equal) / len(equal) if equal else None, kappa)


def _by_pair(shared: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for verdicts in shared.values():
        for one, other in combinations(sorted(verdicts), 2):
            found[one, other].append((verdicts[one], verdicts[other]))
    return found


def _nominal(a: int, b: int) -> float:
    return float(a != b)


def _quadratic(a: int, b: int) -> float:
    return float((a - b) ** 2)


def cohen_kappa(verdicts: Sequence[tuple[int, int]], distance: Callable[[int, int], float] = _nominal) -> float | None:
    """1 less the disagreement seen over that expected by chance (Cohen 1960; with weights, Cohen 1968)."""
    if not verdicts:
        return None
    ones, others = Counter(a for a, _ in verdicts), Counter(b for _, b in verdicts)
    seen = sum(distance(a, b) for a, b in verdicts) / len(verdicts)
    by_chance = sum(n * m * distance(a, b) for a, n in ones.items() for b, m in others.items()) / len(verdicts) ** 2
    return 1 - seen / by_chance if by_chance else None
