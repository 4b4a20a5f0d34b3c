"""What is stored against held-out suites: every document, environment and play, and which hits keep rows back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from data.catalog import Catalog
from data.embedding import Embedder
from data.scanning import batched
from data.tables import DOCUMENTS, ENVIRONMENTS, EPISODES, OVERLAPS
from spade.datasets import DatasetRow
from spade.errors import Skip
from spade.overlap import Overlap, Tasks, Text

BATCH = 128


class Overlapping(Skip):
    """Rows are made of what repeats held-out tasks."""


def tasks_of(suite: str, version: str, texts: Mapping[str, str], embedder: Embedder) -> Tasks:
    """A suite's tasks, ready to be compared with. `texts` by task; empty ones are left out."""
    kept = {task_id: text for task_id, text in texts.items() if text.strip()}
    vectors = embedder.embed(list(kept.values()))
    return Tasks.of(suite, version, kept, vectors, semantic=embedder.semantic)


def compare(catalog: Catalog, tasks: Tasks, embedder: Embedder, more: Iterable[Text] = ()) -> list[Overlap]:
    """All hits among what is stored and `more`; they are stored too, so that exports know of them."""
    found: list[Overlap] = []
    for batch in batched(chain(stored_texts(catalog), more), BATCH):
        vectors = embedder.embed([text.text for text in batch])
        found += tasks.overlaps(batch, vectors)
    catalog.append("contamination", found)
    return found


def stored_texts(catalog: Catalog) -> Iterator[Text]:
    """Documents, programs, and what was seen in each play."""
    for documents in catalog.batches(DOCUMENTS):
        yield from (Text("document", d.document_id, d.text) for d in documents)
    for environments in catalog.batches(ENVIRONMENTS):
        yield from (Text("environment", e.env_id, e.code) for e in environments)
    for episodes in catalog.batches(EPISODES):
        yield from (Text("episode", e.episode_id, "\n".join(t.observation for t in e.turns)) for e in episodes)


def stored_overlaps(catalog: Catalog) -> list[Overlap]:
    return catalog.read(OVERLAPS)


def refuse_overlapping(catalog: Catalog, records: Sequence[DatasetRow]) -> None:
    """Raises `Overlapping` when a row comes from something that repeats a held-out task."""
    hits = {hit.subject_id: hit for hit in stored_overlaps(catalog) if hit.refuses}
    if not hits:
        return
    of_rows = [{r.document_id, r.env_id, r.episode_id, r.paired_episode_id} & hits.keys() for r in records]
    held = [ids for ids in of_rows if ids]
    if held:
        first = hits[min(held[0])]
        raise Overlapping(
            f"{len(held)} of {len(records)} rows come from what repeats held-out tasks: {first.kind} "
            f"{first.subject_id} and {first.suite}/{first.task_id} by {first.by} ({first.score:.3g}).",
            "`spade sql 'from contamination'` lists all hits. Leave them out (curation.leave_out), or export with "
            "--allow-overlap.",
        )
