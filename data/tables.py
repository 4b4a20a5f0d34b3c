"""The catalog's tables: one per record, the columns of each, and how records become rows and rows records."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar, get_type_hints

import pyarrow as pa

from data.blemishes import mended
from data.columns import Blemished, Codec, codec_for, default_of, filled
from spade.attempts import Attempt, Prompt
from spade.budgets import Spending
from spade.curation import Decision
from spade.datasets import Dataset, DatasetRow
from spade.diversity import CodeMark
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Episode
from spade.errors import Skip
from spade.evaluation import Evaluation, Sample
from spade.hints import Hint
from spade.human import HumanRow
from spade.identity import digest
from spade.learning import BatchRecord, Checkpoint, Trained
from spade.overlap import Overlap
from spade.ratings import StoredRating
from spade.reviews import QueuedRow, Review
from spade.scores import Score
from spade.slots import Cycle, Slot
from spade.summary import CycleSummary
from spade.verdicts import Judged

R = TypeVar("R")
BLEMISHES = "blemishes"
"""In every table: what could not be stored as it was, one text a place; null where nothing was altered or is odd."""


@dataclass(frozen=True)
class Column:
    """One column. `path` leads from the record to the value; `record_field` is false for what is only computed."""

    name: str
    path: tuple[str, ...]
    codec: Codec
    default: Callable[[], Any] | None = None
    record_field: bool = True
    compute: Callable[[Any], Any] | None = None

    def value(self, record: Any) -> Any:
        if self.compute is not None:
            return self.compute(record)
        for name in self.path:
            record = getattr(record, name)
        return record


@dataclass(frozen=True)
class Table(Generic[R]):
    """How one record type is stored.

    `key` names the columns that identify a record: of rows with equal keys readers see one. `properties` are properties
    of the record stored as columns, `flat` nested records whose fields become columns of their own, `computed` further
    whole-number columns.
    """

    name: str
    record: type[R]
    key: tuple[str, ...]
    properties: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, Callable[[Any], int]] = field(default_factory=dict)
    part: str = ""
    """A column of the key's making: segments are named for it, so that one part is read without the others."""
    raw_view: str = ""
    """The name of the view over the stored rows, when a view of `views.sql` takes the table's own name."""

    @property
    def view(self) -> str:
        return self.raw_view or self.name

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        properties = [
            Column(p, (p,), codec_for(get_type_hints(getattr(self.record, p).fget)["return"]), record_field=False)
            for p in self.properties
        ]
        computed = [
            Column(n, (), codec_for(int), record_field=False, compute=rule) for n, rule in self.computed.items()
        ]
        return (*properties, *self._fields(self.record, ()), *computed)

    def _fields(self, record: Any, path: tuple[str, ...]) -> Iterator[Column]:
        hints = get_type_hints(record)
        for each in dataclasses.fields(record):
            here = (*path, each.name)
            if ".".join(here) in self.flat:
                yield from self._fields(hints[each.name], here)
            else:
                name = self.renamed.get(".".join(here), each.name)
                yield Column(name, here, codec_for(hints[each.name]), default_of(each, hints[each.name]))

    @cached_property
    def schema(self) -> pa.Schema:
        fields = [pa.field(c.name, c.codec.type) for c in self.columns]
        return pa.schema([*fields, pa.field(BLEMISHES, pa.list_(pa.string()))])

    @cached_property
    def tag(self) -> str:
        """Eight hex digits that name the schema; part of each segment's file name."""
        return digest(str(self.schema))[:8]

    def encode(self, records: Sequence[R]) -> pa.Table:
        """Rows for `records`. Raises `TypeError` for another kind of record, `Skip` for a number beyond 64 bits."""
        stranger = next((r for r in records if not isinstance(r, self.record)), None)
        if stranger is not None:
            raise TypeError(f"table {self.name} holds {self.record.__name__}, not {type(stranger).__name__}")
        try:
            return self._encode(records, records, [None] * len(records), strict=True)
        except Blemished:
            whole, marks = zip(*(mended(r) for r in records), strict=True)
            return self._encode(records, whole, [list(m) or None for m in marks], strict=False)
        except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise Skip(f"a record does not fit table {self.name}: {error}.") from error

    def _encode(
        self, records: Sequence[Any], whole: Sequence[Any], marks: Sequence[list[str] | None], *, strict: bool
    ) -> pa.Table:
        """`whole` are the records as far as they can be stored; ids stay those of the records as they came."""
        arrays = [
            c.codec.encode([c.value(r) for r in (whole if c.record_field else records)], strict=strict)
            for c in self.columns
        ]
        return pa.Table.from_arrays([*arrays, pa.array(marks, pa.list_(pa.string()))], schema=self.schema)

    def part_of(self, rows: pa.Table) -> str:
        """The one part that all of `rows` belong to; empty when there are several, or none."""
        values = rows.column(self.part).unique().to_pylist() if self.part else []
        return str(values[0]) if len(values) == 1 else ""

    @property
    def stored_columns(self) -> tuple[str, ...]:
        """The columns a record is made of again."""
        return tuple(c.name for c in self.columns if c.record_field)

    def decode(self, rows: pa.Table | pa.RecordBatch) -> list[R]:
        """The records of `rows`, which hold at least `stored_columns`."""
        values = {}
        for column in self.columns:
            if column.record_field:
                array = rows.column(column.name)
                array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
                values[column.path] = filled(column.codec.decode(array.cast(column.codec.type)), column.default)
        return self._built(self.record, (), values)

    def _built(self, record: Any, path: tuple[str, ...], values: Mapping[tuple[str, ...], list[Any]]) -> list[Any]:
        hints = get_type_hints(record)
        parts = []
        for each in dataclasses.fields(record):
            here = (*path, each.name)
            parts.append(values[here] if here in values else self._built(hints[each.name], here, values))
        return [record(*row) for row in zip(*parts, strict=True)]


DOCUMENTS = Table("documents", Document, ("document_id",), ("document_id",))
CYCLES = Table("cycles", Cycle, ("cycle_id",), ("cycle_id",), part="cycle_id")
SLOTS = Table("slots", Slot, ("slot_id",), ("slot_id",), part="cycle_id")
PROMPTS = Table("prompts", Prompt, ("prompt_id",), ("prompt_id",))
ATTEMPTS = Table(
    "attempts",
    Attempt,
    ("attempt_id",),
    ("attempt_id", "accepted"),
    flat=("completion", "completion.usage"),
)
VERDICTS = Table(
    "verdicts", Judged, ("subject_id", "gate"), ("judged_id",), flat=("verdict",), raw_view="verdicts_alone"
)
ENVIRONMENTS = Table("environments", Environment, ("env_id",), ("env_id",))
CODE_MARKS = Table("code_marks", CodeMark, ("env_id", "form"))
HINTS = Table(
    "hints",
    Hint,
    ("hint_id",),
    ("hint_id", "accepted"),
    flat=("completion", "completion.usage"),
    renamed={"completion.text": "reply"},
)
EPISODES = Table(
    "episodes",
    Episode,
    ("episode_id",),
    ("episode_id",),
    flat=("asked", "usage"),
    renamed={"return_": "return"},
    computed={"n_turns": lambda episode: len(episode.turns)},
    part="cycle_id",
)
SCORES = Table("scores", Score, ("cycle_id", "env_id", "variant"), part="cycle_id")
RATINGS = Table("ratings", StoredRating, ("cycle_id", "side", "subject_id"), part="cycle_id")
DECISIONS = Table("decisions", Decision, ("decision_id",), ("decision_id",))
SUMMARIES = Table("summaries", CycleSummary, ("cycle_id",), part="cycle_id")
SPENDINGS = Table("spendings", Spending, ("spending_id",), ("spending_id",))
TRAIN_BATCHES = Table("train_batches", BatchRecord, ("batch_id",), part="cycle_id")
TRAIN_ROWS = Table("train_rows", Trained, ("batch_id", "subject_id"))
CHECKPOINTS = Table("checkpoints", Checkpoint, ("checkpoint_id",), ("checkpoint_id",))
DATASETS = Table("datasets", Dataset, ("dataset_id",), ("dataset_id",))
DATASET_ROWS = Table("dataset_rows", DatasetRow, ("row_id",), ("row_id",))
REVIEW_QUEUE = Table("review_queue", QueuedRow, ("row_id",))
HUMAN_ROWS = Table("human_rows", HumanRow, ("human_id",), ("human_id",))
REVIEWS = Table("reviews", Review, ("review_id",), ("review_id",))
EVALUATIONS = Table("evaluations", Evaluation, ("evaluation_id",), ("evaluation_id", "settings_id"), flat=("put",))
OVERLAPS = Table("contamination", Overlap, ("suite", "suite_version", "task_id", "by", "subject_id"))
SAMPLES = Table("samples", Sample, ("settings_id", "task_id", "number", "attempt"), part="settings_id")

TABLES: Mapping[str, Table[Any]] = {
    table.name: table
    for table in (
        DOCUMENTS,
        CYCLES,
        SLOTS,
        PROMPTS,
        ATTEMPTS,
        VERDICTS,
        ENVIRONMENTS,
        CODE_MARKS,
        HINTS,
        EPISODES,
        SCORES,
        RATINGS,
        DECISIONS,
        SUMMARIES,
        SPENDINGS,
        TRAIN_BATCHES,
        TRAIN_ROWS,
        CHECKPOINTS,
        DATASETS,
        DATASET_ROWS,
        REVIEW_QUEUE,
        REVIEWS,
        EVALUATIONS,
        SAMPLES,
        HUMAN_ROWS,
        OVERLAPS,
    )
}
