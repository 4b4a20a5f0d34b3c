"""Which documents a corpus takes: by length, language and form. Each refusal has a countable reason."""

import re
from collections import Counter
from dataclasses import dataclass

from spade.documents import Document

COMMON_WORDS = {
    "en": "the of and to in is that it for was as with be by on not are this which from",
    "de": "der die und das ist nicht ein eine zu den mit von auf für sich im dem werden auch als",
    "fr": "le la les et des est une dans que pour qui pas sur au par plus avec ce sont du",
    "es": "el la los las de que y en un una es por con para del se no su al como",
    "it": "il di che la è e un una per non con del sono le si della dei gli al come",
    "pt": "o a os as de que e do da em um uma é para com não por mais dos se",
    "nl": "de het een en van is dat niet op te met voor zijn aan die ook er bij naar wordt",
}
"""The twenty or so words that tell a language; what is shared by two is counted for both."""
LEAST_COMMON = 0.04
"""Share of words that must be such words: prose has four times as many, a table or code in no language fewer."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_WORD_LENGTHS = (3.0, 10.0)
_LETTERED, _REPEATED, _SYMBOLS = 0.5, 0.3, 0.1
"""Least share of words with a letter, largest shares of repeated lines and of # and … to a word: the rules for prose of
Rae et al. 2021 (arXiv 2112.11446, appendix A), with 0.5 for their 0.8 as mathematics is written in numbers."""


@dataclass(frozen=True, slots=True)
class DocumentRules:
    """What a document must be. `language`: a code of `COMMON_WORDS`, empty for any; `max_words` 0: of any length."""

    min_words: int = 0
    max_words: int = 0
    language: str = ""
    prose: bool = False
    licenses: tuple[str, ...] = ()

    def why_not(self, document: Document) -> str:
        """Why the document is left out; empty when it is taken."""
        words = document.text.split()
        if len(words) < self.min_words:
            return "too short"
        if self.max_words and len(words) > self.max_words:
            return "too long"
        if self.licenses and document.license not in self.licenses:
            return f"licence {document.license or 'unknown'}"
        if self.language and (found := language_of(document.text)) != self.language:
            return f"language {found or 'unknown'}"
        return not_prose(document.text, words) if self.prose else ""


def language_of(text: str) -> str:
    """The language whose commonest words the text has most of; empty where it has too few of any.

    A guess for leaving out what is plainly another language; of a few words it knows nothing.
    """
    words = Counter(_WORD.findall(text.lower()))
    counts = {code: sum(words[w] for w in set(common.split())) for code, common in COMMON_WORDS.items()}
    code, most = max(counts.items(), key=lambda item: (item[1], item[0]))
    return code if most > LEAST_COMMON * words.total() else ""


def not_prose(text: str, words: list[str]) -> str:
    """What a text lacks to be prose; empty when it lacks nothing."""
    if not words:
        return "no words"
    low, high = _WORD_LENGTHS
    if not low <= sum(map(len, words)) / len(words) <= high:
        return "words of odd length"
    if sum(any(c.isalpha() for c in word) for word in words) < _LETTERED * len(words):
        return "words without letters"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) - len(set(lines)) > _REPEATED * len(lines):
        return "repeated lines"
    if text.count("#") + text.count("...") + text.count("\u2026") > _SYMBOLS * len(words):
        return "symbols"
    return ""
