"""The corpus says what it could not read, and draws the same documents for the same address."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpus import Corpus, open_corpus, read_corpus
from spade.corpus_settings import CorpusSettings
from spade.documents import Document
from spade.errors import Abort


def written(folder: Path, *lines: str | bytes) -> str:
    path = folder / "corpus.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return str(path)


def test_the_starter_corpus_is_packaged() -> None:
    corpus = open_corpus(CorpusSettings())
    assert len(corpus.documents) >= 40
    assert corpus.broken == ()


def test_broken_lines_are_counted_with_their_numbers(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"text": "water boils", "title": "Water", "license": "CC0-1.0", "page": 3}',
        "",
        "{half",
        b"\xff\xfe",
        "[1]",
        '{"text": 3}',
        '{"text": "  "}',
        '{"text": "a\\ud800b"}',
        '{"orig_doc": "ice melts"}',
        '{"text": "water boils"}',
    )
    corpus = read_corpus(path, max_words=100)

    assert [d.text for d in corpus.documents] == ["water boils", "ice melts"]
    assert corpus.documents[0].license == "CC0-1.0"
    assert corpus.documents[0].metadata == (("page", "3"),)
    assert [line.number for line in corpus.broken] == [3, 4, 5, 6, 7, 8]
    assert corpus.duplicates == 1


def test_long_documents_are_cut_at_a_paragraph(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"text": "one two\n\nthree four\n\nfive"}))
    assert read_corpus(path, max_words=4).documents[0].text == "one two\n\nthree four"


@pytest.mark.parametrize("lines", [(), ("",), ("{half",)])
def test_an_empty_corpus_is_refused_with_a_remedy(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(Abort, match="holds no document") as refused:
        read_corpus(written(tmp_path, *lines), max_words=10)
    assert "corpus.path" in refused.value.remedy


@pytest.mark.parametrize("path", ["/nowhere/at/all.jsonl", "package:unknown"])
def test_a_corpus_that_is_not_there_is_refused(path: str) -> None:
    with pytest.raises(Abort):
        read_corpus(path, max_words=10)


@given(seed=st.integers(0, 2**31), size=st.integers(1, 20), count=st.integers(1, 9))
def test_no_document_comes_again_before_all_were_drawn(seed: int, size: int, count: int) -> None:
    """Over any run of cycles, and a new corpus object (a restart) draws the same."""
    documents = tuple(Document(f"text {i}") for i in range(size))
    cycles = -(-2 * size // count)
    drawn = [d for cycle in range(cycles) for d in Corpus("a", documents).draw(seed, cycle, count)]

    assert set(drawn[:size]) == set(documents)
    assert set(drawn[size : 2 * size]) == set(documents)
    assert drawn == [d for cycle in range(cycles) for d in Corpus("a", documents).draw(seed, cycle, count)]
