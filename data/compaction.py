"""Small segments merged into large ones, while others read and write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.engine import Engine, doubles_in, view_sql
from data.segments import GRACE_SECONDS, Segment
from data.tables import Table

TARGET_BYTES = 256 * 2**20
"""A segment of this size is left as it is."""
FEWEST = 2
SMALL_BYTES = 4 * 2**20
MANY = 16
"""More small segments than these are merged while a run goes on. After 150 cycles without it a report of 14 tables read
thousands of files, and a cycle of one slot took 10 s instead of 2; with 64, 3 s."""
BATCH_ROWS = 2048


def compact(
    engine: Engine,
    table: Table[Any],
    grace_seconds: float = GRACE_SECONDS,
    *,
    below: int = TARGET_BYTES,
    fewest: int = FEWEST,
) -> int:
    """Merge the segments of one table that are smaller than `below` bytes, if there are `fewest` of them, and sweep
    what is no longer needed; how many segments were merged.

    0 when there was nothing to do or another process is at it. Rows that stand for a key twice are dropped.
    """
    segments = engine.segments[table.name]
    if not segments.exist():
        return 0
    with segments.locked() as alone:
        if not alone:
            return 0
        segments.sweep(grace_seconds)
        chosen = [s for s in segments.live() if s.path.stat().st_size < below]
        if len(chosen) < fewest:
            return 0
        _merge(engine, table, chosen)
    return len(chosen)


def merged_with(
    engine: Engine, table: Table[Any], key: str, ids: Sequence[str], expressions: Mapping[str, str]
) -> bool:
    """Write all of a table anew with other values (SQL, by column) in the rows whose `key` is one of `ids`.

    False when another process is merging; readers see the old rows until the new segment is whole.
    """
    segments = engine.segments[table.name]
    with segments.locked() as alone:
        if alone:
            _merge(engine, table, segments.live(), Changed(key, tuple(ids), dict(expressions)))
        return alone


@dataclass(frozen=True, slots=True)
class Changed:
    """Rows with one of these ids in the column `key` get the values of `expressions`."""

    key: str
    ids: tuple[str, ...]
    expressions: dict[str, str]

    def column(self, name: str) -> str:
        if name not in self.expressions:
            return f'"{name}"'
        return (
            f'case when "{self.key}" in (from changed_ids) then {self.expressions[name]} else "{name}" end as "{name}"'
        )


def _merge(engine: Engine, table: Table[Any], chosen: list[Segment], changed: Changed | None = None) -> None:
    changed = changed or Changed("", (), {})
    columns = ", ".join(changed.column(name) for name in table.schema.names)
    with engine.cursor(table.view) as cursor:
        rows = view_sql(table, chosen, doubles_in(cursor, table))
        cursor.execute("create temp table changed_ids as select unnest(?::varchar[]) as id", [list(changed.ids)])
        reader = cursor.sql(f"select {columns} from ({rows})").to_arrow_reader(BATCH_ROWS)
        engine.segments[table.name].merge(chosen, reader, table.schema, table.tag)
