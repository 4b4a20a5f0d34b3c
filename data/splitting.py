"""The split of each document in a dataset: documents whose environments are built alike stay together."""

from collections.abc import Mapping
from dataclasses import dataclass

from data.catalog import Catalog
from data.selection import Selection
from spade.diversity import structural_hash
from spade.splits import clusters, split_of


@dataclass(frozen=True)
class Splits:
    """Which split a document's rows go to. A document without a cluster is its own."""

    shares: Mapping[str, float]
    seed: int
    by_document: Mapping[str, str]

    @classmethod
    def over(cls, catalog: Catalog, selection: Selection, shares: Mapping[str, float], seed: int) -> "Splits":
        """Splits of the documents behind a selection. Clusters are looked for only where there is something to split.

        Linked are all documents that led to environments of one structure (equal up to names, texts and layout).
        """
        named = clusters(_links(catalog, selection)) if len(shares) > 1 else {}
        return cls(shares, seed, named)

    def of(self, document_id: str) -> str:
        return split_of(self.by_document.get(document_id, document_id), self.shares, self.seed)


def _links(catalog: Catalog, selection: Selection) -> list[tuple[str, ...]]:
    """Documents by the structure of what was made of them, one tuple a structure."""
    rows = catalog.query(
        """select c.document_id, e.code from chains as c join environments as e using (env_id)
        where c.cycle_id in (select unnest(?::varchar[])) order by all""",
        [[cycle_id for cycle_id, _ in selection.by_cycle]],
    )
    by_structure: dict[str, list[str]] = {}
    for row in rows:
        by_structure.setdefault(_structure(row["code"]), []).append(row["document_id"])
    return [tuple(documents) for documents in by_structure.values()]


def _structure(code: str) -> str:
    try:
        return structural_hash(code)
    except (SyntaxError, ValueError, RecursionError):
        return code
