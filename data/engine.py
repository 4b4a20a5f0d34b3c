"""DuckDB over the segments: one view a table, always of the files that count at the moment of the question.

Rows stored twice are found when a segment is first seen, by the hashes of its keys; the few later ones are left out of
the view by file and row number, so a view without doubles is a plain scan.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from data.remote import Remote
from data.segments import Segment, Segments
from data.tables import TABLES, Table
from spade.errors import Abort

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
TRIES = 5
"""How often a question is asked again when a file it was reading went away."""
_VIEW = re.compile(r"create or replace view (\w+)", re.IGNORECASE)


@dataclass
class _Shown:
    """Which files the view of one table shows; not `ready` before the first look."""

    names: frozenset[str] = frozenset()
    ready: bool = False


@dataclass
class Engine:
    """A private in-memory DuckDB; what it knows is rebuilt from the files."""

    folder: Path
    remote: Remote | None = None
    segments: dict[str, Segments] = field(init=False)
    _shown: dict[str, _Shown] = field(init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _connection: "duckdb.DuckDBPyConnection | None" = None

    def __post_init__(self) -> None:
        self.segments = {
            name: Segments(self.folder / name, self.remote.folder(name) if self.remote else None) for name in TABLES
        }
        self._shown = {name: _Shown() for name in TABLES}

    def ask(self, sql: str, question: Callable[["duckdb.DuckDBPyConnection"], T]) -> T:
        """`question` of a connection on which the views named in `sql` are fresh; asked again when a file went away."""
        import duckdb

        for left in reversed(range(TRIES)):
            try:
                with self.cursor(sql) as cursor:
                    return question(cursor)
            except duckdb.IOException as error:
                self.forget()
                if not left:
                    raise Abort(f"cannot read the catalog: {error}", f"Check {self.folder}.") from error
        raise AssertionError("unreachable")

    def cursor(self, sql: str) -> "duckdb.DuckDBPyConnection":
        """A connection of its own on which the views named in `sql` are fresh."""
        with self._lock:
            self._refresh(sql)
            return self._connected().cursor()

    def forget(self) -> None:
        """Drop what is known of the files."""
        with self._lock:
            self._shown = {name: _Shown() for name in TABLES}

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._shown = {name: _Shown() for name in TABLES}

    def _connected(self) -> "duckdb.DuckDBPyConnection":
        if self._connection is None:
            import duckdb

            connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
            connection.execute("set parquet_metadata_cache = true")
            connection.execute(f"set allowed_directories = [{quoted(str(self.folder) + '/')}]")
            connection.execute("set enable_external_access = false")
            for table in TABLES.values():
                connection.execute(f"""create table empty_{table.name} ({columns_sql(table.schema)});
                    create table hashes_{table.name} (hash ubigint);
                    create table doubles_{table.name} (filename varchar, file_row_number bigint);
                    create view {table.view} as from empty_{table.name}""")
            connection.execute(_views_sql())
            self._connection = connection
        return self._connection

    def _refresh(self, sql: str) -> None:
        connection = self._connected()
        words = _words_of(sql)
        for table in TABLES.values():
            if table.view in words:
                self._refresh_table(connection, table)

    def _refresh_table(self, connection: "duckdb.DuckDBPyConnection", table: Table[Any]) -> None:
        live = self.segments[table.name].live()
        names = frozenset(s.name for s in live)
        shown = self._shown[table.name]
        if shown.ready and names == shown.names:
            return
        fresh = [s for s in live if s.name not in shown.names]
        with _transaction(connection):
            if not shown.ready or not shown.names <= names:
                fresh = live
                connection.execute(f"delete from hashes_{table.name}; delete from doubles_{table.name}")
            _doubles(connection, table, fresh, live)
            rows = view_sql(table, live, doubles_in(connection, table))
            connection.execute(f"create or replace view {table.view} as {rows}")
        self._shown[table.name] = _Shown(names, ready=True)


@contextmanager
def _transaction(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    """Questions of other threads see all of the block or nothing."""
    connection.execute("begin")
    try:
        yield
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _doubles(
    connection: "duckdb.DuckDBPyConnection", table: Table[Any], fresh: Sequence[Segment], live: Sequence[Segment]
) -> None:
    """Note the keys of `fresh` and which rows of `live` stand for a key that an earlier row already has."""
    name, key = table.name, ", ".join(f'"{k}"' for k in table.key)
    if not fresh:
        return
    connection.execute(f"create or replace temp table fresh as select hash({key}) as hash from {scan(fresh)}")
    suspects = connection.execute(
        f"""select hash from fresh group by hash having count(*) > 1
        union select hash from fresh semi join hashes_{name} using (hash)"""
    ).fetchall()
    connection.execute(f"insert into hashes_{name} select hash from fresh")
    if suspects:
        connection.execute(
            f"""insert into doubles_{name} select filename, file_row_number from (
                select filename, file_row_number,
                    row_number() over (partition by {key} order by filename, file_row_number) as place
                from {scan(live, rows=True)} where hash({key}) in (select unnest(?::ubigint[]))
            ) where place > 1 and (filename, file_row_number) not in (from doubles_{name})""",
            [[hash_ for (hash_,) in suspects]],
        )


def doubles_in(connection: "duckdb.DuckDBPyConnection", table: Table[Any]) -> dict[str, list[int]]:
    """The rows to leave out, by path."""
    rows = connection.execute(f"select filename, list(file_row_number) from doubles_{table.name} group by 1").fetchall()
    return dict(rows)


def view_sql(table: Table[Any], live: Sequence[Segment], doubles: Mapping[str, Sequence[int]]) -> str:
    """The rows of `live` less `doubles`, in file order; columns that old files lack are null.

    A filter and not a join leaves the rows out, because it keeps their order.
    """
    tags = list(dict.fromkeys(s.tag for s in live))
    # Files of today's schema alone have every column; joining them by name costs more than many a question.
    parts = [] if tags == [table.tag] else [f"select * from empty_{table.name}"]
    for tag in tags:
        same = [s for s in live if s.tag == tag]
        left_out = {path: rows for s in same if (rows := doubles.get(path := str(s.path)))}
        parts.append(_without(same, left_out) if left_out else f"select * from {scan(same)}")
    return " union all by name ".join(parts)


def part_sql(table: Table[Any], live: Sequence[Segment]) -> str:
    """All rows of one part (the parameter) of `live` in file order, doubles included."""
    tags = list(dict.fromkeys(s.tag for s in live))
    parts = [] if tags == [table.tag] else [f"empty_{table.name}"]
    parts += [scan([s for s in live if s.tag == tag]) for tag in tags]
    return " union all by name ".join(f'select * from {part} where "{table.part}" = $part' for part in parts)


def _without(segments: Sequence[Segment], left_out: Mapping[str, Sequence[int]]) -> str:
    tests = [f"(filename = {quoted(p)} and file_row_number in ({', '.join(map(str, r))}))" for p, r in left_out.items()]
    rows = scan(segments, rows=True)
    return f"select * exclude (filename, file_row_number) from {rows} where not ({' or '.join(tests)})"


def scan(segments: Iterable[Segment], *, rows: bool = False) -> str:
    """A table expression over files. Files of one schema are read without looking into each of them first."""
    listed = list(segments)
    mixed = len({s.tag for s in listed}) > 1
    paths = ", ".join(quoted(str(s.path)) for s in listed)
    options = ", union_by_name = true" * mixed + ", filename = true, file_row_number = true" * rows
    return f"read_parquet([{paths}]{options})"


def columns_sql(schema: Any) -> str:
    """The columns of a schema or a struct as SQL declares them."""
    return ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in schema)


def _sql_type(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"struct({columns_sql(kind)})"
    return {pa.string(): "varchar", pa.int64(): "bigint", pa.float64(): "double", pa.bool_(): "boolean"}[kind]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@cache
def _views_sql() -> str:
    return files("data").joinpath("views.sql").read_text("utf-8")


def _words_of(sql: str) -> set[str]:
    """The words of a query, and those of the definitions of our own views among them."""
    definitions = {m.group(1): text for text in _views_sql().split(";") if (m := _VIEW.search(text))}
    words: set[str] = set()
    new = set(re.findall(r"\w+", sql.lower()))
    while new:
        words |= new
        new = {w for name in new & definitions.keys() for w in re.findall(r"\w+", definitions[name].lower())} - words
    return words
