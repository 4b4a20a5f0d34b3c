"""Does something of ours repeat a held-out task? By runs of words, and by nearness in meaning."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spade.contamination import runs

NEAR = 0.9
"""Cosine from which a text counts as near a task."""
EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Text:
    """Something of ours. `kind` is document, environment or episode."""

    kind: str
    subject_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """One hit. `by` says how: `words` (a run of 13), `meaning`, or `spelling` where nothing that knows meaning is
    installed; `score` is the number of words or the cosine. Hits by spelling are listed and refuse nothing."""

    suite: str
    suite_version: str
    task_id: str
    by: str
    kind: str
    subject_id: str
    score: float
    excerpt: str

    @property
    def refuses(self) -> bool:
        """Whether rows made of this are not exported."""
        return self.by != "spelling"


@dataclass(frozen=True)
class Tasks:
    """The texts of a suite's tasks: their runs of words, and their vectors (tasks, dimension) of length 1."""

    suite: str
    suite_version: str
    task_ids: Sequence[str]
    by_run: Mapping[str, str]
    vectors: Any
    semantic: bool

    @classmethod
    def of(cls, suite: str, version: str, texts: Mapping[str, str], vectors: Any, *, semantic: bool) -> "Tasks":
        """Runs that most tasks share are the suite's own instructions, no task: they are left out."""
        counts: dict[str, int] = {}
        first: dict[str, str] = {}
        for task_id, text in texts.items():
            for run in set(runs(text)):
                counts[run] = counts.get(run, 0) + 1
                first.setdefault(run, task_id)
        common = max(2, len(texts) // 10)
        kept = {run: task_id for run, task_id in first.items() if counts[run] <= common}
        return cls(suite, version, tuple(texts), kept, vectors, semantic)

    def overlaps(self, texts: Iterable[Text], vectors: Any) -> Iterator[Overlap]:
        """Every task that each text repeats, with the first run of words or the cosine. `vectors` go with `texts`."""
        for text, vector in zip(texts, vectors, strict=True):
            yield from self._by_words(text)
            yield from self._by_vector(text, vector)

    def _by_words(self, text: Text) -> Iterator[Overlap]:
        seen: set[str] = set()
        for run in runs(text.text):
            task_id = self.by_run.get(run)
            if task_id is not None and task_id not in seen:
                seen.add(task_id)
                yield self._hit(text, task_id, "words", float(len(run.split())), run)

    def _by_vector(self, text: Text, vector: Any) -> Iterator[Overlap]:
        if not len(self.task_ids):
            return
        for place in np.flatnonzero((cosines := self.vectors @ vector) >= NEAR):
            by = "meaning" if self.semantic else "spelling"
            yield self._hit(text, self.task_ids[int(place)], by, float(cosines[place]), text.text)

    def _hit(self, text: Text, task_id: str, by: str, score: float, said: str) -> Overlap:
        excerpt = " ".join(said.split())[:EXCERPT]
        return Overlap(self.suite, self.suite_version, task_id, by, text.kind, text.subject_id, score, excerpt)
