"""Documents one by one from what people have: JSONL and Parquet, packed or not, texts, Markdown, folders of them."""

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from importlib.resources import files
from pathlib import Path
from typing import Any

from spade.documents import Document
from spade.errors import Abort
from spade.identity import canonical

PACKAGED = "package:"
TEXT_KEYS = ("text", "orig_doc")
NAMED_KEYS = ("title", "subject", "source", "license")
TEXTS, LINES, TABLES, PACKED = (".txt", ".md"), (".jsonl", ".ndjson", ".json"), (".parquet",), (".gz", ".zst")
ROWS_AT_ONCE = 512
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line, row or file that holds no document. `number` counts from 1 within `file`, empty for the corpus itself."""

    number: int
    reason: str
    file: str = ""


Found = Document | BrokenLine


def documents_of(path: str) -> Iterator[Found]:
    """What `package:NAME`, a file or a folder holds, in order, one at a time. Raises `Abort` when it cannot be read."""
    place = Path(path).expanduser()
    if path.startswith(PACKAGED) or not place.is_dir():
        yield from _file(path)
        return
    inside = [p for p in sorted(place.rglob("*")) if p.is_file() and kind_of(p.name)]
    for number, file in enumerate(inside, start=1):
        name = str(file.relative_to(place))
        if kind_of(name) in TEXTS:
            yield _text(file, number, name)
        else:
            for found in _file(str(file)):
                yield BrokenLine(found.number, found.reason, name) if isinstance(found, BrokenLine) else found


def kind_of(name: str) -> str:
    """The ending that says how to read a file, `.gz` and `.zst` aside; empty for one that holds no documents."""
    suffixes = [s.lower() for s in Path(name).suffixes]
    ending = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in PACKED else suffixes[-1] if suffixes else ""
    return ending if ending in (*TEXTS, *LINES, *TABLES) else ""


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of `package:NAME` or of a file, unpacked. Raises `Abort` when it cannot be read."""
    if path.startswith(PACKAGED):
        resource = files("data").joinpath("corpora", f"{path.removeprefix(PACKAGED)}.jsonl")
        if not resource.is_file():
            raise Abort(f"There is no packaged corpus {path!r}.", "package:starter is the one that ships.")
        yield from resource.read_bytes().splitlines()
        return
    try:
        with _opened(path) as file:
            yield from file
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise Abort(
            f"The corpus {path} cannot be read: {why}.",
            "Give an existing file or folder as corpus.path, or use package:starter.",
        ) from error


def text_of(line: bytes, keys: tuple[str, ...] = TEXT_KEYS) -> str:
    """The text of a JSONL line under the first of `keys` that has one; empty for any other line."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return next((value[k] for k in keys if isinstance(value.get(k), str)), "") if isinstance(value, dict) else ""


def document_of(value: Any) -> Document | str:
    """The document of one JSON object, or why there is none."""
    if not isinstance(value, dict):
        return "it is not a JSON object"
    text = next((value[k] for k in TEXT_KEYS if isinstance(value.get(k), str)), "")
    if not text.strip():
        return f"it has no text under {' or '.join(TEXT_KEYS)}"
    named = {key: value[key] for key in NAMED_KEYS if isinstance(value.get(key), str)}
    rest = {k: v for k, v in value.items() if k not in named and v is not text}
    try:
        metadata = tuple((k, canonical(v)) for k, v in sorted(rest.items()))
    except (TypeError, ValueError):
        return "it holds a value that is not JSON"
    return Document(text=text.strip(), metadata=metadata, **named)


def _file(path: str) -> Iterator[Found]:
    if not path.startswith(PACKAGED) and kind_of(path) in TABLES:
        yield from _rows(path)
        return
    if not path.startswith(PACKAGED) and kind_of(path) in TEXTS:
        yield _text(Path(path).expanduser(), 1, Path(path).name)
        return
    for number, line in enumerate(lines_of(path), start=1):
        if line.strip():
            found = _of_line(line)
            yield BrokenLine(number, found) if isinstance(found, str) else found


def _of_line(line: bytes) -> Document | str:
    try:
        value: Any = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except (ValueError, RecursionError):
        return "it is not JSON"
    if b"\\u" in line and _SURROGATE.search(canonical(value)):
        return "it holds half a surrogate pair"
    return document_of(value)


def _rows(path: str) -> Iterator[Found]:
    """Each row of a Parquet file, a few hundred in memory at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(Path(path).expanduser()) as table:
            rows = (row for batch in table.iter_batches(ROWS_AT_ONCE) for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                found = document_of(
                    {k: _plain(v) for k, v in row.items() if v is not None and not isinstance(v, bytes)}
                )
                yield BrokenLine(number, found) if isinstance(found, str) else found
    except (OSError, pa.ArrowException) as error:
        raise Abort(f"The corpus {path} cannot be read as Parquet: {error}.", "Give a whole Parquet file.") from error


def _text(file: Path, number: int, name: str) -> Found:
    try:
        with _opened(str(file)) as opened:
            text = opened.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        return BrokenLine(number, "it is not UTF-8", name)
    except (OSError, EOFError, zlib.error) as error:
        return BrokenLine(number, f"it cannot be read: {error}", name)
    title = Path(name).name.partition(".")[0]
    return Document(text, title=title, source=name) if text else BrokenLine(number, "it is empty", name)


def _opened(path: str) -> Any:
    """A file as bytes, unpacked by its ending."""
    place = Path(path).expanduser()
    suffix = place.suffix.lower()
    if suffix == ".gz":
        import gzip

        return gzip.open(place)
    if suffix == ".zst":
        import io

        import pyarrow as pa

        unpacked: Any = pa.input_stream(str(place), compression="zstd")
        return io.BufferedReader(unpacked)
    return open(place, "rb")


def _plain(value: Any) -> Any:
    """A cell as JSON: dates as ISO texts."""
    return value.isoformat() if isinstance(value, datetime | date | time) else value


def _refuse(constant: str) -> None:
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(constant)
