"""Documents from JSONL files, drawn without replacement by an address: a seed, a cycle, a count."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from data.writing import written
from spade.documents import Document, cut_at_paragraph
from spade.errors import Abort
from spade.identity import canonical, rng_for
from spade.settings import CorpusSettings

PACKAGED = "package:"
_TEXT_KEYS = ("text", "orig_doc")
_NAMED_KEYS = ("title", "subject", "source", "license")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that holds no document. `number` counts from 1."""

    number: int
    reason: str


@dataclass(frozen=True)
class Corpus:
    """Distinct documents in file order, and what was wrong with the rest."""

    name: str
    documents: tuple[Document, ...]
    broken: tuple[BrokenLine, ...] = ()
    duplicates: int = 0
    _orders: dict[tuple[int, int], list[int]] = field(default_factory=dict, repr=False, compare=False)

    def draw(self, seed: int, cycle_number: int, count: int) -> list[Document]:
        """The documents of one cycle: no document again before every other was drawn.

        A pure function of its arguments, so a restarted run goes on where the cycle numbers in the catalog say.
        """
        first = cycle_number * count
        return [self._drawn(seed, position) for position in range(first, first + count)]

    def _drawn(self, seed: int, position: int) -> Document:
        epoch, at = divmod(position, len(self.documents))
        if (seed, epoch) not in self._orders:
            order = list(range(len(self.documents)))
            rng_for(seed, "corpus", epoch).shuffle(order)
            self._orders[seed, epoch] = order
        return self.documents[self._orders[seed, epoch][at]]


def open_corpus(settings: CorpusSettings) -> Corpus:
    """The corpus of a run, documents cut to `max_words`. Raises `Abort` when there is none or it is empty."""
    return read_corpus(settings.path, max_words=settings.max_words)


def read_corpus(path: str, *, max_words: int) -> Corpus:
    """Read `package:NAME` or a JSONL file. Broken lines and repeated documents are left out and counted."""
    broken: list[BrokenLine] = []
    found: dict[str, Document] = {}
    repeated = 0
    for document in _documents(lines_of(path), broken):
        cut = replace(document, text=cut_at_paragraph(document.text, max_words))
        repeated += cut.document_id in found
        found.setdefault(cut.document_id, cut)
    if not found:
        why = f"all {len(broken)} lines are broken, the first because {broken[0].reason}" if broken else "it is empty"
        raise Abort(
            f"The corpus {path} holds no document: {why}.",
            'Give a JSONL file with one {"text": ...} a line as corpus.path, or use package:starter.',
        )
    return Corpus(path, tuple(found.values()), tuple(broken), repeated)


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of `package:NAME` or of a file. Raises `Abort` when it cannot be read."""
    if path.startswith(PACKAGED):
        resource = files("data").joinpath("corpora", f"{path.removeprefix(PACKAGED)}.jsonl")
        if not resource.is_file():
            raise Abort(f"There is no packaged corpus {path!r}.", "package:starter is the one that ships.")
        yield from resource.read_bytes().splitlines()
        return
    try:
        with open(Path(path).expanduser(), "rb") as file:
            yield from file
    except OSError as error:
        raise Abort(
            f"The corpus {path} cannot be read: {error.strerror or error}.",
            "Give an existing JSONL file as corpus.path, or use package:starter.",
        ) from error


def _documents(lines: Iterable[bytes], broken: list[BrokenLine]) -> Iterator[Document]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        document = _document(line)
        if isinstance(document, str):
            broken.append(BrokenLine(number, document))
        else:
            yield document


def _document(line: bytes) -> Document | str:
    """The document of one line, or why there is none."""
    try:
        value: Any = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(value, dict):
        return "it is not a JSON object"
    text = next((value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str)), "")
    if not text.strip():
        return f"it has no text under {' or '.join(_TEXT_KEYS)}"
    if "\\u" in line.decode() and _SURROGATE.search(canonical(value)):
        return "it holds half a surrogate pair"
    named = {key: value[key] for key in _NAMED_KEYS if isinstance(value.get(key), str)}
    rest = {k: v for k, v in value.items() if k not in named and value[k] is not text}
    return Document(text=text.strip(), metadata=tuple((k, canonical(v)) for k, v in sorted(rest.items())), **named)


def text_of(line: bytes, keys: tuple[str, ...] = _TEXT_KEYS) -> str:
    """The text of a JSONL line under the first of `keys` that has one; empty for any other line."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return next((value[k] for k in keys if isinstance(value.get(k), str)), "") if isinstance(value, dict) else ""


def _refuse(constant: str) -> None:
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(constant)


def statistics(corpus: Corpus) -> dict[str, Any]:
    """Counts of a corpus: JSON values."""
    words = sorted(len(document.text.split()) for document in corpus.documents)
    return {
        "corpus": corpus.name,
        "documents": len(words),
        "words": sum(words),
        "words_shortest": words[0],
        "words_median": words[len(words) // 2],
        "words_longest": words[-1],
        "subjects": dict(Counter(d.subject or "none" for d in corpus.documents).most_common()),
        "licenses": dict(Counter(d.license or "none" for d in corpus.documents).most_common()),
        "duplicates": corpus.duplicates,
        "broken_lines": [{"line": line.number, "reason": line.reason} for line in corpus.broken],
    }


def add_documents(source: Path, to: Path, license: str = "") -> tuple[int, int, int]:
    """Add what `to` does not hold yet: (added, known already, broken). The file is replaced as a whole.

    `source` is a JSONL file, or a folder whose .txt and .md files are one document each. Raises `Abort` when `source`
    cannot be read or `to` cannot be written.
    """
    broken: list[BrokenLine] = []
    old = to.read_bytes() if to.exists() else b""
    held = {d.document_id for d in _documents(old.splitlines(), broken)}
    unread: list[BrokenLine] = []
    lines = lines_of(str(source)) if source.is_file() else _folder_lines(source)
    fresh: dict[str, Document] = {}
    known = 0
    for document in _documents(lines, unread):
        known += document.document_id in held or document.document_id in fresh
        if document.document_id not in held:
            fresh.setdefault(document.document_id, document)
    with written(to) as file:
        file.write(old if not old or old.endswith(b"\n") else old + b"\n")
        file.writelines(_line_of(replace(d, license=d.license or license)) for d in fresh.values())
    return len(fresh), known, len(unread)


def _folder_lines(folder: Path) -> Iterator[bytes]:
    """Each .txt and .md file of a folder as a line of JSONL; what is not UTF-8 as a broken one."""
    if not folder.is_dir():
        raise Abort(f"{folder} is neither a file nor a folder.", "Give a JSONL file or a folder of .txt and .md files.")
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".txt", ".md") and p.is_file()):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            yield b"\xff"
        else:
            yield canonical({"text": text, "title": path.stem, "source": path.name}).encode()


def _line_of(document: Document) -> bytes:
    values = {name: value for name, value in asdict(document).items() if value and name != "metadata"}
    metadata = {name: json.loads(value) for name, value in document.metadata}
    return (json.dumps({**values, **metadata}, ensure_ascii=False, allow_nan=False) + "\n").encode()
