"""Does a text share a long run of words with evaluation data? Such a text is left out, with what it shares."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

GRAM = 13
"""Words in a run; shorter ones are shared by chance (arXiv 2005.14165, appendix C)."""
_WORD = re.compile(r"\w+")


def runs(text: str, length: int = GRAM) -> Iterator[str]:
    """All runs of `length` words, lower case, punctuation aside. A shorter text of at least 5 words is one run."""
    words = _WORD.findall(text.lower())
    if 5 <= len(words) < length:
        yield " ".join(words)
    for start in range(len(words) - length + 1):
        yield " ".join(words[start : start + length])


@dataclass(frozen=True)
class EvaluationData:
    """The runs of evaluation texts, each with the name of its set."""

    length: int = GRAM
    _names: dict[int, str] = field(default_factory=dict)
    """The set's name by the hash of a run: texts would not fit into memory."""

    def add(self, name: str, texts: Iterable[str]) -> None:
        for text in texts:
            for run in runs(text, self.length):
                self._names.setdefault(hash(run), name)

    def shared(self, text: str) -> str:
        """`13 words with NAME: the words`, or an empty text."""
        for run in runs(text, self.length):
            if name := self._names.get(hash(run)):
                return f"{len(run.split())} words with {name}: {run}"
        return ""
