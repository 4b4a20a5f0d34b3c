"""Benchmark files that people put on this machine themselves: where they are looked for, and how that is refused."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spade.errors import Abort
from spade.identity import digest


def found(title: str, path: str, default: Path, what: str) -> Path:
    """The file: `path` when it is given, else `default`. Raises `Abort` saying what to put where."""
    place = Path(path).expanduser() if path else default
    if not place.is_file():
        raise Abort(f"{title} is not on this machine: {place} is no file.", f"Put there {what}, or name it: path=FILE.")
    return place


def version_of(path: Path) -> str:
    """A version that names the file's bytes."""
    return f"{path.stem}-{digest(path.read_bytes().decode('utf-8', 'replace'))[:10]}"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL, JSON or CSV file. Raises `Abort` naming the line that is none."""
    text = path.read_text("utf-8-sig")
    if path.suffix == ".csv":
        yield from csv.DictReader(text.splitlines(keepends=True))
        return
    if path.suffix == ".json":
        values = json.loads(text)
        yield from values if isinstance(values, list) else values["rows"]
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise Abort(f"line {number} of {path} is no JSON object.", "Use the file as its authors published it.")
        yield row


def first_of(row: dict[str, Any], names: tuple[str, ...], where: str) -> str:
    """The first of these fields that the row has, as text. Raises `Abort` naming them."""
    for name in names:
        if row.get(name) not in (None, ""):
            return str(row[name])
    raise Abort(f"{where} has none of the fields {', '.join(names)}.", "Use the file as its authors published it.")
