"""The immutable files of one table: how they appear, which of them count, how small ones become a large one.

A segment is written under a temporary name, flushed to disk, and renamed; from then on it never changes. Its name is
`<nanoseconds>-<random>.<schema>[.<part>].parquet`: sorted by name is sorted by age, the schema tells readers which
segments can be read together, and the part is the one cycle that all its rows belong to.

A merged segment has `merged` as its part and carries the names of those it replaces. It counts instead of them from the
moment of its rename; they stay on disk for a while, so that a reader who listed the folder before still finds them.
"""

import os
import re
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data.remote import Remote
from data.writing import folder_made, written

SUFFIX = ".parquet"
MERGED = ".merged" + SUFFIX
REPLACES = b"spade.replaces"
_PART = re.compile(r"[\w-]+")
TEMPORARY = ".tmp-"
STALE_SECONDS = 3600.0
"""A temporary file this old belongs to a writer that died."""
SETTLED_NANOSECONDS = 2 * 10**9
"""A folder that has not changed for so long shows any later change in its time; some filesystems count seconds."""
GRACE_SECONDS = 600.0
"""How long a replaced segment stays on disk: longer than any listing or query takes."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One file. `tag` names its schema, `part` the one part that its rows belong to, empty when there are several."""

    path: Path
    tag: str
    part: str

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def merged(self) -> bool:
        return self.name.endswith(MERGED)

    def may_hold(self, part: str) -> bool:
        return self.part in ("", part)


@dataclass
class Segments:
    """The segments of one table in one folder."""

    folder: Path
    remote: Remote | None = None
    _replaced_by: dict[str, frozenset[str]] = field(default_factory=dict)
    _listed: tuple[int, list[str]] | None = None

    def write(self, rows: pa.Table, tag: str, part: str = "") -> Path:
        """Store `rows` as one new segment. Raises `Abort` when the folder cannot be written or the disk is full."""
        folder_made(self.folder)
        named = f".{part}" if _PART.fullmatch(part) else ""
        path = self.folder / f"{time.time_ns():019d}-{secrets.token_hex(6)}.{tag}{named}{SUFFIX}"
        with written(path, TEMPORARY) as file:
            pq.write_table(rows, file, **parquet_options(rows.schema, "lz4"))
        self._put(path)
        return path

    def exist(self) -> bool:
        """Whether there can be any."""
        return self.remote is not None or self.folder.is_dir()

    def _put(self, path: Path) -> None:
        """A segment that is not in the store is none: it is not listed, and goes when it cannot be put there."""
        if self.remote is None:
            return
        try:
            self.remote.put(path)
        except BaseException:
            self._delete_here(path.name)
            raise

    def live(self) -> list[Segment]:
        """The segments that count now, oldest first."""
        names = self._names()
        merged = [n for n in names if n.endswith(MERGED)]
        replaced = frozenset().union(*map(self._replaces, merged))
        self._replaced_by = {n: self._replaced_by[n] for n in merged if n in self._replaced_by}
        return [self._segment(name) for name in sorted(names) if name not in replaced]

    def _segment(self, name: str) -> Segment:
        _, tag, *rest, _ = name.split(".")
        return Segment(self.folder / name, tag, rest[0] if rest and not name.endswith(MERGED) else "")

    def _names(self) -> list[str]:
        """The segments that are there: in the store, if there is one; what is new there is fetched first."""
        here = self._names_here()
        if self.remote is None:
            return here
        listed = [n for n in self.remote.names() if n.endswith(SUFFIX) and not n.startswith(".")]
        if missing := set(listed) - set(here):
            folder_made(self.folder)
            self.remote.fetch(sorted(missing), self.folder)
            here = self._names_here()
        return sorted(set(listed) & set(here))

    def _names_here(self) -> list[str]:
        """The names in the folder; read again when the folder changed since, or could have within its clock's tick."""
        try:
            changed = os.stat(self.folder).st_mtime_ns
            if self._listed is None or self._listed[0] != changed:
                begun = time.time_ns()
                with os.scandir(self.folder) as entries:
                    names = [e.name for e in entries if e.name.endswith(SUFFIX) and not e.name.startswith(".")]
                self._listed = (changed, names) if begun - changed > SETTLED_NANOSECONDS else None
                return names
            return self._listed[1]
        except FileNotFoundError:
            return []

    def _replaces(self, name: str) -> frozenset[str]:
        known = self._replaced_by.get(name)
        if known is None:
            try:
                metadata = pq.read_metadata(self.folder / name).metadata or {}
            except FileNotFoundError:
                return frozenset()
            # one text a name: merged segments name what those before them replaced too
            known = frozenset(map(sys.intern, metadata.get(REPLACES, b"").decode().split()))
            self._replaced_by[name] = known
        return known

    def merge(self, chosen: list[Segment], batches: Iterable[pa.RecordBatch], schema: pa.Schema, tag: str) -> Path:
        """One segment of `batches` that counts instead of `chosen`. Call it under `locked`."""
        present = set(self._names())
        inherited = {n for s in chosen if s.merged for n in self._replaces(s.name)} & present
        replaces = "\n".join(sorted({s.name for s in chosen} | inherited)).encode()
        age = min(s.name for s in chosen).split("-")[0]
        path = self.folder / f"{age}-{secrets.token_hex(6)}.{tag}{MERGED}"
        schema = schema.with_metadata({REPLACES: replaces})
        rows = sum(pq.read_metadata(s.path).num_rows for s in chosen)
        options = {**parquet_options(schema, "zstd"), **id_filters(schema, rows)}
        with written(path, TEMPORARY) as file, pq.ParquetWriter(file, schema, **options) as writer:
            for group in _row_groups(batches, schema):
                writer.write_table(group)
        self._put(path)
        return path

    def sweep(self, grace_seconds: float = GRACE_SECONDS) -> int:
        """Delete what no reader needs: replaced segments after their grace, temporary files of dead writers."""
        now = time.time()
        merged = [n for n in self._names() if n.endswith(MERGED)]
        replaced = {r for n in merged if self._age(n, now) >= grace_seconds for r in self._replaces(n)}
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            replaced |= {
                e.name for e in entries if e.name.startswith(TEMPORARY) and self._age(e.name, now) > STALE_SECONDS
            }
        return sum(self._delete(name) for name in replaced)

    def _age(self, name: str, now: float) -> float:
        try:
            return now - (self.folder / name).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def _delete(self, name: str) -> bool:
        if self.remote is not None:
            self.remote.delete(name)
        return self._delete_here(name)

    def _delete_here(self, name: str) -> bool:
        try:
            (self.folder / name).unlink()
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Whether this process alone may merge now. The lock goes with the process, however it ends."""
        import fcntl

        folder_made(self.folder)
        with open(self.folder / ".lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


ROW_GROUP_BYTES = 8 * 2**20
"""About the rows of one cycle: a row group is the least that a reader decodes."""
ROW_GROUP_ROWS = 32_768
FALSE_POSITIVES = 0.01


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Batches gathered into tables of about `ROW_GROUP_BYTES` and at most `ROW_GROUP_ROWS`."""
    gathered, size, rows = list[pa.RecordBatch](), 0, 0
    for batch in batches:
        if gathered and (size >= ROW_GROUP_BYTES or rows + batch.num_rows > ROW_GROUP_ROWS):
            yield pa.Table.from_batches(gathered).cast(schema)
            gathered, size, rows = [], 0, 0
        gathered.append(batch)
        size, rows = size + batch.nbytes, rows + batch.num_rows
    if gathered:
        yield pa.Table.from_batches(gathered).cast(schema)


def id_filters(schema: pa.Schema, rows: int) -> dict[str, Any]:
    """A Bloom filter for each column of ids: one id among a million rows is then looked for in one row group."""
    ids = [f.name for f in schema if f.name.endswith("_id") and pa.types.is_string(f.type)]
    expected = {"ndv": max(1, min(rows, ROW_GROUP_ROWS)), "fpp": FALSE_POSITIVES}
    return {"bloom_filter_options": dict.fromkeys(ids, expected)} if ids else {}


def parquet_options(schema: pa.Schema, compression: str) -> dict[str, Any]:
    """Dictionaries only for short texts: for token ids they cost half the writing time and save nothing."""
    texts = [f.name for f in schema if pa.types.is_string(f.type)]
    return {"compression": compression, "use_dictionary": texts or False}
