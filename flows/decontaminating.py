"""Held-out suites against everything that is stored, and against a whole corpus."""

from collections.abc import Iterator, Sequence

from data.benchmarks.registry import wanted
from data.catalog import Catalog
from data.corpus import open_corpus
from data.decontamination import compare, tasks_of
from data.embedding import open_embedder
from flows.benching import opened
from flows.preflight import writable
from spade.errors import Abort
from spade.evaluating import MarkerError
from spade.overlap import Overlap, Text
from spade.settings import FactorySettings


async def compared(
    settings: FactorySettings, suites: Sequence[str], tasks: int | None, seed: int, *, whole_corpus: bool
) -> list[Overlap]:
    """All hits, suite by suite; they are stored. Raises `Abort` for a suite that cannot be had."""
    writable(settings.home)
    catalog, embedder = Catalog(settings.home, settings.store), open_embedder(settings.memory.embedder)
    found = []
    for each in [wanted(text) for text in suites]:
        async with opened(each, settings, catalog) as suite:
            texts = {}
            for question in await suite.questions(tasks, seed):
                try:
                    texts[question.task_id] = await suite.prompt(question)
                except MarkerError:  # a task that cannot be put cannot be repeated either
                    continue
            if not any(texts.values()):
                raise Abort(f"the suite {each.name} does not say its tasks, so nothing can be compared with them.")
            known = tasks_of(suite.card.name, suite.card.version, texts, embedder)
        more = _corpus(settings) if whole_corpus else iter(())
        found += compare(catalog, known, embedder, more)
    return found


def _corpus(settings: FactorySettings) -> Iterator[Text]:
    return (Text("document", d.document_id, d.text) for d in open_corpus(settings.corpus).documents)
