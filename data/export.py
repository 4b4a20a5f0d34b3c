"""A selection becomes a dataset: streamed, checked, deterministic, traceable row by row."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data.catalog import Catalog
from data.decontamination import refuse_overlapping
from data.expectations import Validation, validate
from data.folders import SplitWriter, parquet_name, whole_folder, write_checksums, write_json
from data.human import with_human
from data.kinds.base import Item, Kind, dataset_row
from data.kinds.registry import kind_of
from data.pages import card, validation_html, validation_markdown
from data.reviewing import review_lines, reviews_of, summary_of
from data.scanning import batched, scanned
from data.splitting import Splits
from data.writing import folder_made
from data.zone import in_zone
from spade.datasets import Dataset, DatasetRow
from spade.documents import Document
from spade.errors import Abort, Skip
from spade.identity import canonical, digest
from spade.reviews import Review
from spade.scanning import Finding, scan
from spade.skills import Setting

FORMAT = "1"
"""Version of the files' form; part of each manifest."""


class Blocked(Skip):
    """The expectations do not hold, so there is no dataset. `page` shows which and for which rows."""

    def __init__(self, message: str, remedy: str, validation: Validation, page: Path) -> None:
        super().__init__(message, remedy)
        self.validation = validation
        self.page = page


@dataclass(frozen=True, slots=True)
class Export:
    """A dataset on disk, and what was checked before it was written."""

    dataset: Dataset
    folder: Path
    validation: Validation


@dataclass(frozen=True)
class Plan:
    """What to export. `shares` by split; rows are split by document and cluster. `license` as the hub names it.

    `environments`: at most so many, of a kind whose rows are tasks: drawn where the agent that was rated last is
    expected to win sometimes, with a share of harder ones (`data.zone`). `human_share`: the share of rows that people
    wrote, of the kind `sft-mixed` (`data.human`).
    """

    kind: str
    name: str
    settings_hash: str = ""
    cycle_ids: Sequence[str] | None = None
    shares: Mapping[str, float] = field(default_factory=lambda: {"train": 1.0})
    seed: int = 0
    license: str = "other"
    environments: int | None = None
    human_share: float = 0.0
    allow_overlap: bool = False
    """Write rows too that come from what repeats held-out tasks (`data.decontamination`)."""


def export_sft(
    catalog: Catalog,
    home: Path,
    *,
    name: str,
    settings_hash: str = "",
    cycle_ids: Sequence[str] | None = None,
    setting: Setting = Setting.GAMES,
) -> Export | None:
    """`export` of the curated positives as chat messages; those of tool-use environments with their calls as data."""
    kind = "sft-tools" if setting is Setting.TOOLS else "sft"
    return export(catalog, home, Plan(kind, name, settings_hash, cycle_ids))


def export(catalog: Catalog, home: Path, plan: Plan) -> Export | None:
    """Write the dataset that `plan` asks for under `home`/datasets, and store which rows it has.

    None when there is no row to export. Raises `Blocked` when an expectation fails or the scan finds secrets or
    personal data, `Overlapping` when rows come from what repeats held-out tasks, `Abort` when the place cannot be
    written. Exporting the same selection again gives the same bytes and stores nothing new.
    """
    kind = kind_of(plan.kind)
    selection = kind.select(catalog, plan.cycle_ids)
    if plan.environments is not None:
        selection = in_zone(catalog, kind, selection, plan.environments, plan.seed)
    if plan.human_share and len(selection):
        if kind.name != "sft-mixed":
            raise Abort(f"Rows of kind {kind.name} are plays alone.", "Export the kind sft-mixed for a human share.")
        selection = with_human(catalog, selection, plan.human_share, plan.seed)
    if not len(selection):
        return None
    reviews = reviews_of(catalog, selection)
    said = [list(review_lines(reviews))] if reviews else []
    chosen = digest(canonical([selection.digest, dict(plan.shares), plan.seed, *said]))[:16]
    dataset = Dataset(plan.name, kind.name, chosen, 0, plan.settings_hash, _versions())
    folder = Path(home) / "datasets" / dataset.dataset_id
    written = Written()
    with whole_folder(folder) as temporary:
        splits = Splits.over(catalog, selection, plan.shares, plan.seed)
        written.write(temporary, kind, kind.items(catalog, selection), dataset.dataset_id, splits)
        if not plan.allow_overlap:
            refuse_overlapping(catalog, written.records)
        written.look_at_documents(catalog)
        written.look_at_reviews(reviews)
        dataset = replace(dataset, rows=len(written.records))
        validation = validate(kind.name, written.facts)
        if not validation.passed:
            raise _blocked(folder, plan.name, validation, written)
        kind.accompany(temporary, catalog, selection)
        _write_papers(temporary, kind, plan, dataset, validation, written)
    catalog.append("dataset_rows", written.records)
    catalog.append("datasets", [dataset])
    return Export(dataset, folder, validation)


@dataclass
class Written:
    """What is known of the rows once they are written. `facts` holds one list a column; `found` names what the scan
    found, by row."""

    records: list[DatasetRow] = field(default_factory=list)
    facts: dict[str, list[Any]] = field(default_factory=dict)
    found: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    reviews: Sequence[Review] = ()

    def write(self, folder: Path, kind: Kind, items: Iterable[Item], dataset_id: str, splits: Splits) -> None:
        """Stream the items into the folder's files."""
        columns = kind.schema.names
        with SplitWriter(folder, kind.schema) as writer:
            for batch in batched(items):
                for item, findings in zip(batch, scanned([item.text for item in batch]), strict=True):
                    split = splits.of(item.lineage["document_id"] or "")
                    record = dataset_row(dataset_id, len(self.records), split, item)
                    row_id = record.row_id
                    values = {**item.content, **item.lineage, "row_id": row_id, "split": split}
                    writer.write(split, {name: values[name] for name in columns})
                    self._note(record, row_id, item, findings)
        self.counts = writer.counts

    def _note(self, record: DatasetRow, row_id: str, item: Item, findings: tuple[Finding, ...]) -> None:
        self.records.append(record)
        if findings:
            self.found[row_id] = findings
        facts = {
            "row_id": row_id,
            "split": record.split,
            **item.lineage,
            **item.facts,
            "findings": len(findings),
        }
        for name, value in facts.items():
            self.facts.setdefault(name, []).append(value)

    def look_at_documents(self, catalog: Catalog) -> None:
        """Scan the documents behind the rows too, and count the splits that each is in."""
        splits: dict[str, set[str]] = {}
        for record in self.records:
            splits.setdefault(record.document_id, set()).add(record.split)
        found = {
            document.document_id: findings
            for documents in batched(sorted(splits))
            for document, findings in _scanned_documents(catalog, documents)
        }
        self.facts["document_splits"] = [len(splits[record.document_id]) for record in self.records]
        self._add([found.get(record.document_id, ()) for record in self.records])

    def look_at_reviews(self, reviews: Sequence[Review]) -> None:
        """Keep what people said about the rows; their comments are scanned as well."""
        self.reviews = reviews
        found: dict[str, tuple[Finding, ...]] = {}
        for review in reviews:
            found[review.episode_id] = (*found.get(review.episode_id, ()), *scan(review.comment))
        self._add([found.get(r.episode_id) or found.get(r.paired_episode_id, ()) for r in self.records])

    def _add(self, findings: Sequence[tuple[Finding, ...]]) -> None:
        """More findings, those of one row each."""
        for index, (record, more) in enumerate(zip(self.records, findings, strict=True)):
            if more:
                self.found[record.row_id] = (*self.found.get(record.row_id, ()), *more)
                self.facts["findings"][index] += len(more)


def _scanned_documents(catalog: Catalog, ids: list[str]) -> Iterator[tuple[Document, tuple[Finding, ...]]]:
    documents = catalog.documents(document_id=ids)
    texts = [f"{document.title}\n{document.text}" for document in documents]
    return ((d, f) for d, f in zip(documents, scanned(texts), strict=True) if f)


def _write_papers(
    folder: Path, kind: Kind, plan: Plan, dataset: Dataset, validation: Validation, written: Written
) -> None:
    """Everything in the folder that is about the rows."""
    title = f"{dataset.name}: {dataset.rows} rows"
    if written.reviews:
        (folder / "reviews.jsonl").write_text("".join(review_lines(written.reviews)), "utf-8")
    write_json(folder / "manifest.json", manifest(plan, dataset, validation, written))
    (folder / "validation.md").write_text(validation_markdown(title, validation), "utf-8")
    (folder / "validation.html").write_text(validation_html(title, validation), "utf-8")
    text = card(
        name=dataset.name,
        kind=kind.name,
        dataset_id=dataset.dataset_id,
        rows=dataset.rows,
        files=[(split, parquet_name(split)) for split in sorted(written.counts)],
        columns=kind.schema.names,
        tags=["spade", *kind.tags],
        license=plan.license,
        about=kind.about,
    )
    (folder / "README.md").write_text(text, "utf-8")
    write_checksums(folder)


def manifest(plan: Plan, dataset: Dataset, validation: Validation, written: Written) -> dict[str, Any]:
    """What is in the folder and where it came from: JSON values, no times, so that it can be compared."""
    cycles = Counter(cycle_id for cycle_id in written.facts["cycle_id"] if cycle_id)
    return {
        "dataset_id": dataset.dataset_id,
        "name": dataset.name,
        "kind": dataset.kind,
        "rows": dataset.rows,
        "splits": written.counts,
        "shares": dict(plan.shares),
        "seed": plan.seed,
        **({"human_share": plan.human_share} if plan.human_share else {}),
        "selection": dataset.selection,
        "cycles": dict(cycles),
        "row_ids": written.facts["row_id"],
        "settings_hash": dataset.settings_hash,
        "versions": dict(dataset.versions),
        **({"reviews": summary_of(written.reviews)} if written.reviews else {}),
        "validation": {"suite": validation.suite, "passed": validation.passed, "expectations": len(validation.checks)},
    }


def _versions() -> tuple[tuple[str, str], ...]:
    libraries = ("great-expectations", "pyarrow", "spade-factory")
    return (("format", FORMAT), *((name, version(name)) for name in libraries))


def _blocked(folder: Path, name: str, validation: Validation, written: Written) -> Blocked:
    """The failed validation as pages beside the datasets, and as an error that names the first failing rows."""
    title = f"{name}: {len(written.records)} rows"
    pages = folder.parent / "blocked" / folder.name
    folder_made(pages)
    findings = [(row, f.kind, f.excerpt) for row, found in written.found.items() for f in found]
    (pages / "validation.md").write_text(validation_markdown(title, validation, findings), "utf-8")
    (pages / "validation.html").write_text(validation_html(title, validation, findings), "utf-8")
    first = validation.failed[0]
    rows = f" (rows {', '.join(first.rows[:3])})" if first.rows else f" ({first.observed})"
    scan = f" The scan found: {', '.join(sorted({kind for _, kind, _ in findings}))}." if findings else ""
    return Blocked(
        f"{len(validation.failed)} expectations fail, so {name} was not written: {first.expects}{rows}.{scan}",
        f"See {pages / 'validation.html'}.",
        validation,
        pages / "validation.html",
    )
