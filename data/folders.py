"""Dataset folders: written under a temporary name, renamed when whole; the same selection gives the same bytes."""

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data.writing import abort_for, flush_folder, folder_made

TEMPORARY = ".tmp-"
ROW_GROUP = 2_000
"""Rows held in memory, and rows of one group in a Parquet file."""
CHECKSUMS = "checksums.sha256"


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that becomes `path` when the block ends well and vanishes when it does not.

    Files are flushed to disk first. A folder that is there already stays: equal names mean equal content. Raises
    `Abort` for a full disk or a place that cannot be written.
    """
    folder_made(path.parent)
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
    try:
        temporary.mkdir()
        yield temporary
        _flush(temporary)
        if not path.exists():
            os.rename(temporary, path)
            flush_folder(path.parent)
    except OSError as error:
        raise abort_for(error, path) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _flush(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())


def write_rows(folder: Path, split: str, rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> int:
    """Stream rows into `data/<split>-00000-of-00001.parquet` and `<split>.jsonl`; how many there were."""
    (folder / "data").mkdir(exist_ok=True)
    count = 0
    with (
        open(folder / f"{split}.jsonl", "w", encoding="utf-8", newline="\n") as lines,
        pq.ParquetWriter(folder / parquet_name(split), schema, compression="zstd") as writer,
    ):
        for group in _grouped(rows):
            lines.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in group)
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def parquet_name(split: str) -> str:
    return f"data/{split}-00000-of-00001.parquet"


def _grouped(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in rows:
        group.append(dict(row))
        if len(group) == ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


def write_json(path: Path, value: Any) -> None:
    """Sorted keys, two spaces: the same value is the same file."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", "utf-8", newline="\n")


def write_checksums(folder: Path) -> None:
    """`checksums.sha256` over every other file, as `sha256sum -c` reads it."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != CHECKSUMS]
    lines = [f"{_sha256(p)}  {p.relative_to(folder).as_posix()}\n" for p in files]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8", newline="\n")


def _sha256(path: Path) -> str:
    value = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            value.update(block)
    return value.hexdigest()
