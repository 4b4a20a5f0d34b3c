"""The factory's memory of everything: many processes write and read at once, and no server is needed."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from data.compaction import MANY, SMALL_BYTES, compact
from data.engine import Engine, part_sql
from data.narrowing import first_of_each, matching
from data.remote import Remote
from data.segments import GRACE_SECONDS
from data.tables import (
    ATTEMPTS,
    CYCLES,
    DATASET_ROWS,
    DATASETS,
    DECISIONS,
    DOCUMENTS,
    ENVIRONMENTS,
    EPISODES,
    HINTS,
    PROMPTS,
    SCORES,
    SLOTS,
    SUMMARIES,
    TABLES,
    VERDICTS,
    Table,
)
from spade.attempts import Attempt, Prompt
from spade.curation import Decision
from spade.datasets import Dataset, DatasetRow
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Episode
from spade.errors import Abort, Retry
from spade.hints import Hint
from spade.operating_settings import StoreSettings
from spade.scores import Score
from spade.slots import Cycle, Slot
from spade.summary import CycleSummary
from spade.verdicts import Judged

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

R = TypeVar("R")
Wanted = str | int | float | bool | None | Sequence[str] | Sequence[int]
"""What a column must equal; a list means one of its values, None a missing value."""


class Catalog:
    """Append-only tables of frozen records under `home`/catalog, readable with SQL and as records. With a `store` they
    lie there, under catalog/, and the folder is a cache of them.

    Storing the same id twice leaves one row: the earliest. Safe to use from threads; each process opens its own.
    """

    def __init__(self, home: Path, store: StoreSettings | None = None) -> None:
        self.folder = Path(home).absolute() / "catalog"
        self._home, self._store = Path(home), store
        self._engine = Engine(self.folder, Remote(store, "catalog") if store and store.url else None)

    def __reduce__(self) -> tuple[type["Catalog"], tuple[Path, StoreSettings | None]]:
        return Catalog, (self._home, self._store)

    def exists(self) -> bool:
        """Whether anything can have been stored: there is a folder, or a store."""
        return self._engine.remote is not None or self.folder.is_dir()

    @property
    def engine(self) -> Engine:
        """The files and the questions behind the tables, for housekeeping."""
        return self._engine

    def close(self) -> None:
        """Free the query engine; the next question opens it again."""
        self._engine.close()

    def append(self, table: str, records: Iterable[Any]) -> None:
        """Store frozen records as one segment: all of them or none.

        Raises `Abort` when the folder cannot be written or the disk is full, `Skip` for a number beyond 64 bits,
        `TypeError` for records of another table. Text with lone surrogates is mended and numbers that are not finite
        are kept; both are named in the column `blemishes`.
        """
        definition = _table(table)
        rows = definition.encode(list(records))
        if rows.num_rows:
            self._engine.segments[table].write(rows, definition.tag, definition.part_of(rows))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of one SELECT over the tables as views. Raises `Abort` with DuckDB's words when it is not one."""
        import duckdb

        def question(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
            statements = connection.extract_statements(sql)
            if [s.type for s in statements] != [duckdb.StatementType.SELECT]:
                raise Abort("the catalog answers exactly one SELECT at a time.", "It is written by the factory alone.")
            result = connection.execute(statements[0], list(parameters))
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

        try:
            return self._engine.ask(sql, question)
        except duckdb.Error as error:
            raise Abort(f"the query failed: {error}", "`spade sql --tables` lists tables and columns.") from error

    def tables(self) -> dict[str, dict[str, str]]:
        """Every table and view that `query` knows, with the types of its columns."""
        columns = self.query(
            """select table_name, column_name, data_type from duckdb_columns()
            where schema_name = 'main' and table_name not similar to '(empty|hashes|doubles)_.*' and not internal
            order by table_name, column_index"""
        )
        found: dict[str, dict[str, str]] = {}
        for column in columns:
            found.setdefault(column["table_name"], {})[column["column_name"]] = column["data_type"]
        return found

    def read(self, table: Table[R], **wanted: Wanted) -> list[R]:
        """The records whose columns equal `wanted`, in the order they were stored."""
        part = wanted.get(table.part)
        if isinstance(part, str):
            return self._read_part(table, part, wanted)
        sql, parameters = _selection(table, wanted)
        rows = self._engine.ask(sql, lambda connection: connection.sql(sql, params=parameters).to_arrow_table())
        return table.decode(rows)

    def _read_part(self, table: Table[R], part: str, wanted: dict[str, Wanted]) -> list[R]:
        """`read` of one part, from its own segments alone. Doubles of a row are in its part too."""

        def question(connection: "duckdb.DuckDBPyConnection") -> "pa.Table":
            live = [s for s in self._engine.segments[table.name].live() if s.may_hold(part)]
            columns = ", ".join(f'"{c}"' for c in dict.fromkeys((*table.stored_columns, *table.key, *wanted)))
            found = connection.sql(f"select {columns} from ({part_sql(table, live)})", params={"part": part})
            rows: pa.Table = found.to_arrow_table()
            return rows

        for name in wanted:
            _known(table, name)
        return table.decode(matching(first_of_each(self._engine.ask("", question), table.key), wanted))

    def batches(self, table: Table[R], size: int = 2048, **wanted: Wanted) -> Iterator[list[R]]:
        """`read` in lists of at most `size` records, so that a large table need not fit into memory.

        Raises `Retry` when a file went away while it was read, long after it had been merged elsewhere.
        """
        import duckdb

        sql, parameters = _selection(table, wanted)
        with self._engine.cursor(sql) as cursor:
            try:
                for batch in cursor.sql(sql, params=parameters).to_arrow_reader(size):
                    yield table.decode(batch)
            except duckdb.IOException as error:
                self._engine.forget()
                raise Retry(f"the catalog changed while {table.name} were read: {error}.") from error

    def compact(self, table: str | None = None, *, grace_seconds: float = GRACE_SECONDS) -> dict[str, int]:
        """Merge small segments while others read and write; how many segments went, by table.

        A table that another process is merging is left alone. Replaced files are deleted after `grace_seconds`.
        """
        names = [_table(table).name] if table else list(TABLES)
        return {name: merged for name in names if (merged := compact(self._engine, TABLES[name], grace_seconds))}

    def tidy(self) -> dict[str, int]:
        """`compact` of the small segments alone, of tables that have many: cheap enough in every cycle."""
        tidied = {t.name: compact(self._engine, t, below=SMALL_BYTES, fewest=MANY) for t in TABLES.values()}
        return {name: merged for name, merged in tidied.items() if merged}

    def documents(self, **wanted: Wanted) -> list[Document]:
        return self.read(DOCUMENTS, **wanted)

    def cycles(self, **wanted: Wanted) -> list[Cycle]:
        return self.read(CYCLES, **wanted)

    def slots(self, **wanted: Wanted) -> list[Slot]:
        return self.read(SLOTS, **wanted)

    def prompts(self, **wanted: Wanted) -> list[Prompt]:
        return self.read(PROMPTS, **wanted)

    def attempts(self, **wanted: Wanted) -> list[Attempt]:
        return self.read(ATTEMPTS, **wanted)

    def verdicts(self, **wanted: Wanted) -> list[Judged]:
        """Those stored alone and those inside attempts and hints."""
        return self.read(VERDICTS, **wanted)

    def environments(self, **wanted: Wanted) -> list[Environment]:
        return self.read(ENVIRONMENTS, **wanted)

    def hints(self, **wanted: Wanted) -> list[Hint]:
        return self.read(HINTS, **wanted)

    def episodes(self, **wanted: Wanted) -> list[Episode]:
        return self.read(EPISODES, **wanted)

    def scores(self, **wanted: Wanted) -> list[Score]:
        return self.read(SCORES, **wanted)

    def decisions(self, **wanted: Wanted) -> list[Decision]:
        return self.read(DECISIONS, **wanted)

    def summaries(self, **wanted: Wanted) -> list[CycleSummary]:
        return self.read(SUMMARIES, **wanted)

    def datasets(self, **wanted: Wanted) -> list[Dataset]:
        return self.read(DATASETS, **wanted)

    def dataset_rows(self, **wanted: Wanted) -> list[DatasetRow]:
        return self.read(DATASET_ROWS, **wanted)


def _table(name: str) -> Table[Any]:
    if name not in TABLES:
        raise Abort(f"the catalog has no table {name!r}.", f"It has {', '.join(TABLES)}.")
    return TABLES[name]


def _known(table: Table[Any], column: str) -> None:
    if column not in table.schema.names:
        raise Abort(f"table {table.name} has no column {column!r}.", f"It has {', '.join(table.schema.names)}.")


def _selection(table: Table[Any], wanted: dict[str, Wanted]) -> tuple[str, list[Any]]:
    """SQL for the stored columns of the rows wanted. Raises `Abort` for a column that the table lacks."""
    conditions, parameters = [], list[Any]()
    for name, value in wanted.items():
        _known(table, name)
        if value is None:
            conditions.append(f'"{name}" is null')
        elif isinstance(value, str | int | float):
            conditions.append(f'"{name}" = ?')
            parameters.append(value)
        else:
            conditions.append(f'"{name}" in (select unnest(?))')
            parameters.append(list(value))
    where = f" where {' and '.join(conditions)}" if conditions else ""
    columns = ", ".join(f'"{c}"' for c in table.stored_columns)
    return f"select {columns} from {table.name}{where}", parameters
