"""The starter corpus is what a first run designs from: original, varied, free to use, short enough for any context."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from spade.documents import Document

STARTER = Path(__file__).parents[2] / "data" / "corpora" / "starter.jsonl"
FIELDS = {"text", "title", "subject", "source", "license"}
AT_LEAST = {"mathematics": 50, "science": 40, "code": 30}
SHINGLE_WORDS = 4
NEAR_DUPLICATE = 0.05


@pytest.fixture(scope="module")
def passages() -> list[dict[str, str]]:
    with STARTER.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}


def test_every_line_has_the_five_fields_as_text(passages: list[dict[str, str]]) -> None:
    """A corpus reader may rely on them."""
    for passage in passages:
        assert set(passage) == FIELDS
        assert all(isinstance(value, str) and value.strip() == value and value for value in passage.values())


def test_the_licence_travels_with_every_passage(passages: list[dict[str, str]]) -> None:
    assert {p["license"] for p in passages} == {"CC0-1.0"}
    assert {p["source"] for p in passages} == {"spade-factory starter corpus"}


def test_every_subject_has_enough_passages(passages: list[dict[str, str]]) -> None:
    """A first cycle draws without replacement; later cycles should not meet the same passage soon."""
    counts = Counter(p["subject"] for p in passages)

    assert set(counts) == set(AT_LEAST)
    assert all(counts[subject] >= least for subject, least in AT_LEAST.items())


def test_every_passage_says_enough_and_not_too_much(passages: list[dict[str, str]]) -> None:
    """Enough mechanism for a game, short enough for a context of 2048 tokens beside the instructions."""
    lengths = {p["title"]: len(p["text"].split()) for p in passages}

    assert {title: n for title, n in lengths.items() if not 120 <= n <= 350} == {}


def test_titles_and_documents_are_unique(passages: list[dict[str, str]]) -> None:
    assert len({p["title"] for p in passages}) == len(passages)
    assert len({Document(**p).document_id for p in passages}) == len(passages)


def test_no_two_passages_are_near_duplicates(passages: list[dict[str, str]]) -> None:
    """Jaccard similarity of word four-grams: different topics share a turn of phrase, never a paragraph."""
    shingles = {p["title"]: _shingles(p["text"]) for p in passages}
    near = [
        (a, b)
        for a, b in combinations(shingles, 2)
        if len(shingles[a] & shingles[b]) > NEAR_DUPLICATE * len(shingles[a] | shingles[b])
    ]

    assert near == []


def test_every_passage_has_paragraphs_and_plain_characters(passages: list[dict[str, str]]) -> None:
    """Small tokenizers spend several tokens on a typographic quote; a single block of text cannot be cut well."""
    for passage in passages:
        assert len(passage["text"].split("\n\n")) >= 2, passage["title"]
        assert passage["text"].isascii(), passage["title"]
