"""Whatever people have as documents is read the same, and what is broken is named and skipped."""

import gzip
import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.corpus import Sieve, open_corpus, read_corpus
from data.corpus_files import add_documents
from data.document_sources import BrokenLine, documents_of
from spade.corpus_settings import CorpusSettings
from spade.documents import Document
from spade.errors import Abort

ROWS = [
    {"text": "water boils", "title": "Water", "license": "CC0-1.0", "page": 3},
    {"orig_doc": "ice melts", "subject": "science"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def packed(folder: Path, form: str) -> str:
    """The same documents in another form."""
    path = folder / f"corpus.{form}"
    match form:
        case "jsonl":
            path.write_bytes(LINES)
        case "jsonl.gz":
            path.write_bytes(gzip.compress(LINES))
        case "jsonl.zst":
            with pa.output_stream(str(path), compression="zstd") as file:
                file.write(LINES)
        case "parquet":
            pq.write_table(pa.Table.from_pylist(ROWS, schema=_schema()), path)
    return str(path)


def _schema() -> pa.Schema:
    texts = [pa.field(name, pa.string()) for name in ("text", "orig_doc", "title", "license", "subject")]
    return pa.schema([*texts, pa.field("page", pa.int64())])


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_every_form_gives_the_same_documents(tmp_path: Path, form: str) -> None:
    assert list(documents_of(packed(tmp_path, form))) == [
        Document("water boils", "Water", "", "", "CC0-1.0", (("page", "3"),)),
        Document("ice melts", "", "science"),
    ]


def test_a_folder_gives_what_is_in_it_and_names_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Ice\n\nIt floats.")
    (tmp_path / "notes" / "b.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "notes" / "c.txt.gz").write_bytes(gzip.compress(b"Steam rises."))
    (tmp_path / "notes" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "z.jsonl").write_text('{"text": "Rain falls."}\n{half\n')

    found = list(documents_of(str(tmp_path)))

    assert [d.text for d in found if isinstance(d, Document)] == ["# Ice\n\nIt floats.", "Steam rises.", "Rain falls."]
    assert found[0] == Document("# Ice\n\nIt floats.", "a", "", "notes/a.md")
    assert [b for b in found if isinstance(b, BrokenLine)] == [
        BrokenLine(2, "it is not UTF-8", "notes/b.txt"),
        BrokenLine(2, "it is not JSON", "z.jsonl"),
    ]


def test_dates_and_bytes_of_a_table_do_not_stop_it(tmp_path: Path) -> None:
    rows = [{"text": "one", "when": date(2026, 1, 2), "raw": b"x", "score": float("nan")}]
    rows.append({"text": "two", "when": date(2026, 1, 3), "raw": None, "score": 0.5})
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")

    found = list(documents_of(str(tmp_path / "t.parquet")))

    assert found[0] == BrokenLine(1, "it holds a value that is not JSON")
    assert found[1] == Document("two", metadata=(("score", "0.5"), ("when", '"2026-01-03"')))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl.gz", b"no gzip"),
        ("a.jsonl.gz", gzip.compress(LINES * 99)[:-9]),
        ("a.jsonl.zst", b"no zstd at all"),
        ("a.parquet", b"PAR1 no"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Abort, match="cannot be read"):
        list(documents_of(str(tmp_path / name)))


def test_a_run_takes_only_what_its_settings_want_and_counts_the_rest(tmp_path: Path) -> None:
    shared = "the seven bridges of the old town can not all be crossed once and only once"
    (tmp_path / "exam.jsonl").write_text(json.dumps({"question": shared}) + "\n")
    texts = {
        "kept": "The river runs to the sea and it is deep in the middle of the town.",
        "short": "Too short.",
        "german": "Der Fluss ist tief und die Stadt liegt nicht weit von dem Meer, das sich mit den Winden hebt.",
        "leaked": f"It is well known that {shared}, which Euler showed.",
        "restricted": "This is the text of a book that is not for us to use in this way at all.",
    }
    rows = [{"text": t, "license": "secret" if k == "restricted" else "CC0-1.0"} for k, t in texts.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in [*rows, rows[0]]))
    settings = CorpusSettings(
        path=str(tmp_path / "corpus.jsonl"),
        min_words=5,
        language="en",
        licenses=("CC0-1.0",),
        evaluation_sets=(tmp_path / "exam.jsonl",),
    )

    corpus = open_corpus(settings)

    assert [d.text for d in corpus.documents] == [texts["kept"]]
    assert corpus.duplicates == 1
    assert dict(corpus.left_out) == {
        "too short": 1,
        "language de": 1,
        "contaminated: 13 words with exam": 1,
        "licence secret": 1,
    }
    with pytest.raises(Abort, match="left out by the settings"):
        open_corpus(settings.model_copy(update={"min_words": 99}))


def test_a_corpus_of_ones_own_keeps_what_it_had(tmp_path: Path) -> None:
    to = tmp_path / "own.jsonl"
    to.write_bytes(b'{"text": "first", "x": 1}\n{broken\n{"text": "last"}')

    assert add_documents(documents_of(packed(tmp_path, "parquet")), to, Sieve(), "MIT") == 2
    assert add_documents(documents_of(packed(tmp_path, "jsonl")), to, Sieve(), "MIT") == 0

    assert to.read_bytes().startswith(b'{"text": "first", "x": 1}\n{broken\n{"text": "last"}\n')
    corpus = read_corpus(str(to), max_words=99)
    assert [(d.text, d.license) for d in corpus.documents] == [
        ("first", ""),
        ("last", ""),
        ("water boils", "CC0-1.0"),
        ("ice melts", "MIT"),
    ]
    assert [b.number for b in corpus.broken] == [2]
