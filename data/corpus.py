"""The documents of a run, drawn without replacement by an address: a seed, a cycle, a count."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from data.document_sources import BrokenLine, Found, documents_of
from data.evaluation_sets import evaluation_data
from spade.corpus_settings import CorpusSettings
from spade.document_rules import DocumentRules
from spade.documents import Document, cut_at_paragraph
from spade.errors import Abort
from spade.identity import rng_for

NO_RULES = DocumentRules()


@dataclass(frozen=True)
class Corpus:
    """Distinct documents in file order, and what was wrong with the rest. `left_out`: how many by each reason."""

    name: str
    documents: tuple[Document, ...]
    broken: tuple[BrokenLine, ...] = ()
    duplicates: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
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


@dataclass
class Sieve:
    """What is taken of a stream of documents: no broken line, nothing twice, nothing against the rules, nothing that
    shares a long run of words with an evaluation set. Counts all that it leaves out."""

    rules: DocumentRules = NO_RULES
    evaluation_sets: tuple[Path, ...] = ()
    held: set[str] = field(default_factory=set)
    broken: list[BrokenLine] = field(default_factory=list)
    duplicates: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def taken(self, found: Iterable[Found]) -> Iterator[Document]:
        for each in found:
            if isinstance(each, BrokenLine):
                self.broken.append(each)
            elif each.document_id in self.held:
                self.duplicates += 1
            elif why := self._why_not(each):
                self.left_out[why] += 1
            else:
                self.held.add(each.document_id)
                yield each

    def _why_not(self, document: Document) -> str:
        if why := self.rules.why_not(document):
            return why
        shared = evaluation_data(self.evaluation_sets).shared(document.text) if self.evaluation_sets else ""
        return f"contaminated: {shared.partition(':')[0]}" if shared else ""


def rules_of(settings: CorpusSettings) -> DocumentRules:
    return DocumentRules(settings.min_words, 0, settings.language, settings.prose, settings.licenses)


def open_corpus(settings: CorpusSettings) -> Corpus:
    """The corpus of a run, documents cut to `max_words`. Raises `Abort` when there is none or it is empty."""
    sieve = Sieve(rules_of(settings), settings.evaluation_sets)
    return read_corpus(settings.path, max_words=settings.max_words, sieve=sieve)


def read_corpus(path: str, *, max_words: int, sieve: Sieve | None = None) -> Corpus:
    """Read `package:NAME`, a file or a folder. What the sieve leaves out is counted; documents are cut before that."""
    sieve = sieve or Sieve()
    documents = tuple(sieve.taken(_cut(documents_of(path), max_words)))
    if not documents:
        raise Abort(
            f"The corpus {path} holds no document: {_why_empty(sieve)}.",
            'Give a JSONL file with one {"text": ...} a line as corpus.path, or use package:starter.',
        )
    counts = tuple(sieve.left_out.most_common())
    return Corpus(path, documents, tuple(sieve.broken), sieve.duplicates, counts)


def _cut(found: Iterable[Found], max_words: int) -> Iterator[Found]:
    for each in found:
        yield replace(each, text=cut_at_paragraph(each.text, max_words)) if isinstance(each, Document) else each


def _why_empty(sieve: Sieve) -> str:
    if sieve.left_out:
        reason, count = sieve.left_out.most_common(1)[0]
        return f"{sieve.left_out.total()} documents are left out by the settings, {count} of them as {reason}"
    if sieve.broken:
        return f"all {len(sieve.broken)} lines are broken, the first because {sieve.broken[0].reason}"
    return "it is empty"


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
        "left_out": dict(corpus.left_out),
        "broken_lines": [
            {"line": b.number, "reason": b.reason} | ({"file": b.file} if b.file else {}) for b in corpus.broken
        ],
    }
