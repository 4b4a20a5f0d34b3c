"""Dataset folders: written under a temporary name, renamed when whole; the same selection gives the same bytes."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Self, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from data.writing import abort_for, flush_folder, folder_made
from spade.environments import Environment
from spade.identity import canonical

TEMPORARY = ".tmp-"
ROW_GROUP = 2_000
"""Rows held in memory, and rows of one group in a Parquet file."""
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
CHECKSUMS = "checksums.sha256"
GAME = "spade_game.py"
CONFINEMENT = ("__init__.py", "kernel.py", "syscalls.py", "seccomp.py", "landlock.py", "frames.py", "controls.py",
               "program.py", "serve.py", "attention.py", "tool_env.py", "tool_schemas.py")  # fmt: skip
"""The part of the sandbox's driver that goes along with `GAME`: the standard library is all it needs."""


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


class SplitWriter:
    """Rows streamed into `data/<split>-00000-of-00001.parquet` and `<split>.jsonl`, a split opened by its first row."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder, self._schema = folder, schema
        self._stack = ExitStack()
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._files: dict[str, tuple[TextIO, pq.ParquetWriter]] = {}
        self.counts: dict[str, int] = {}

    def __enter__(self) -> Self:
        (self._folder / "data").mkdir()
        return self

    def __exit__(self, *raised: Any) -> None:
        with self._stack:
            if raised[0] is None:
                for split in self._waiting:
                    self._flush(split)

    def write(self, split: str, row: dict[str, Any]) -> None:
        waiting = self._waiting.setdefault(split, [])
        waiting.append(row)
        if len(waiting) == ROW_GROUP:
            self._flush(split)

    def _flush(self, split: str) -> None:
        rows, self._waiting[split] = self._waiting[split], []
        if not rows:
            return
        lines, table = self._opened(split)
        lines.writelines(_LINE.encode(row) + "\n" for row in rows)
        table.write_table(_table(rows, self._schema))
        self.counts[split] = self.counts.get(split, 0) + len(rows)

    def _opened(self, split: str) -> tuple[TextIO, pq.ParquetWriter]:
        if split not in self._files:
            lines = open(self._folder / f"{split}.jsonl", "w", encoding="utf-8", newline="\n")  # noqa: SIM115
            table = pq.ParquetWriter(self._folder / parquet_name(split), self._schema, compression="zstd")
            self._files[split] = self._stack.enter_context(lines), self._stack.enter_context(table)
        return self._files[split]


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """The rows as a table. Lists of JSON values become texts that Parquet and its readers know to be JSON."""
    lists: Any = pa.list_(pa.json_())
    columns = [field.name for field in schema if field.type == lists]
    if not columns:
        return pa.Table.from_pylist(rows, schema=schema)
    texts = [{**row, **{name: [canonical(value) for value in row[name]] for name in columns}} for row in rows]
    plain = [field.with_type(pa.list_(pa.string())) if field.name in columns else field for field in schema]
    return pa.Table.from_pylist(texts, schema=pa.schema(plain)).cast(schema)


def parquet_name(split: str) -> str:
    return f"data/{split}-00000-of-00001.parquet"


def write_program(folder: Path, environment: Environment) -> None:
    """`programs/<environment id>.py`, the text exactly."""
    placed(folder / "programs" / f"{environment.env_id}.py", environment.code)


def copied(module: str, folder: Path, name: str = "") -> None:
    """One of the portable modules, under its own or another name; beside the game, what keeps programs in."""
    placed(folder / (name or module), files("data.portable").joinpath(module).read_text("utf-8"))
    if module == GAME:
        for part in CONFINEMENT:
            placed(folder / "spade_confine" / part, files("sandbox.driver").joinpath(part).read_text("utf-8"))
        placed(folder / "spade_confine" / "allowed.py", files("spade").joinpath("allowed.py").read_text("utf-8"))


def placed(path: Path, text: str, *, executable: bool = False) -> None:
    """A text as a file, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    if executable:
        path.chmod(0o755)


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
