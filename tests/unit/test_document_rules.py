"""Which documents are taken, with worked texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.document_rules import COMMON_WORDS, DocumentRules, language_of, not_prose
from spade.documents import Document

STARTER = Path(__file__).parents[2] / "data" / "corpora" / "starter.jsonl"
TEXTS = [json.loads(line)["text"] for line in STARTER.read_text("utf-8").splitlines()]
SENTENCES = {
    "en": "The weight of the box is what it was when we left, and that is all there is to it.",
    "de": "Die Kiste ist so schwer wie sie war, als wir gingen, und das ist auch nicht zu ändern.",
    "fr": "Le poids de la boîte est ce qu'il était et les clous sont dans une autre, pas sur la table.",
    "es": "El peso de la caja es el que era cuando se fue, y no hay más que decir de los clavos.",
    "it": "Il peso della cassa è quello che era, e non si può dire di più dei chiodi che sono con le viti.",
    "pt": "O peso da caixa é o que era e não se diz mais dos pregos que são para uma outra caixa.",
    "nl": "Het gewicht van de kist is wat het was en dat is niet meer dan de spijkers die er ook bij zijn.",
}


@pytest.mark.parametrize("language", COMMON_WORDS)
def test_a_language_is_told_by_its_commonest_words(language: str) -> None:
    assert language_of(SENTENCES[language]) == language


def test_the_starter_corpus_is_english_prose() -> None:
    assert {language_of(text) for text in TEXTS} == {"en"}
    assert [text[:40] for text in TEXTS if not_prose(text, text.split())] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a b c d e f", "words of odd length"),
        ("100 200 300 400 500 words 100 200", "words without letters"),
        ("the same line again\n" * 4, "repeated lines"),
        ("thus it carries ... and carries ... farther", "symbols"),
        ("", "no words"),
    ],
)
def test_what_is_not_prose_has_a_reason(text: str, why: str) -> None:
    assert not_prose(text, text.split()) == why


def test_a_document_without_a_licence_is_not_taken_where_licences_are_asked_for() -> None:
    rules = DocumentRules(licenses=("MIT",))
    assert rules.why_not(Document("a")) == "licence unknown"
    assert rules.why_not(Document("a", license="MIT")) == ""
    assert DocumentRules(max_words=1).why_not(Document("a b")) == "too long"


@given(st.text(max_size=300))
def test_any_text_at_all_is_judged(text: str) -> None:
    assert language_of(text) in ("", *COMMON_WORDS)
    assert isinstance(not_prose(text, text.split()), str)
