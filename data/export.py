"""A selection of episodes becomes a dataset: streamed, checked, deterministic, traceable row by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data.catalog import Catalog
from data.expectations import Validation, validate
from data.folders import parquet_name, whole_folder, write_checksums, write_json, write_rows
from data.pages import card, validation_html, validation_markdown
from data.rows import SFT_SCHEMA, dataset_row, facts, sft_row
from data.selection import Selection, chosen, select
from data.writing import folder_made
from spade.curation import Pool
from spade.datasets import Dataset, DatasetRow
from spade.errors import Skip

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


def export_sft(
    catalog: Catalog,
    home: Path,
    *,
    name: str,
    settings_hash: str = "",
    cycle_ids: Sequence[str] | None = None,
    license: str = "other",
) -> Export | None:
    """Export the curated positives (of these cycles) as chat messages, JSONL and Parquet, under `home`/datasets.

    None when there is no row to export. Raises `Blocked` when an expectation fails, `Abort` when the place cannot be
    written. Exporting the same selection again gives the same bytes and stores nothing new.
    """
    selection = select(catalog, Pool.POSITIVE, cycle_ids)
    if not len(selection):
        return None
    dataset = Dataset(name, "sft", selection.digest, len(selection), settings_hash, _versions())
    folder = Path(home) / "datasets" / dataset.dataset_id
    rows = _Rows(catalog, selection, dataset)
    with whole_folder(folder) as temporary:
        write_rows(temporary, "train", rows, SFT_SCHEMA)
        validation = validate("sft", rows.facts)
        title = f"{name}: {dataset.rows} rows"
        if not validation.passed:
            raise _blocked(folder, title, validation)
        _write_papers(temporary, dataset, selection, validation, title=title, license=license)
    catalog.append("dataset_rows", rows.records)
    catalog.append("datasets", [dataset])
    return Export(dataset, folder, validation)


class _Rows:
    """The rows of an export, made while they are written; what is needed afterwards is kept on the way."""

    def __init__(self, catalog: Catalog, selection: Selection, dataset: Dataset) -> None:
        self._catalog, self._selection, self._dataset = catalog, selection, dataset
        self.records: list[DatasetRow] = []
        self.facts: list[dict[str, Any]] = []

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for index, item in enumerate(chosen(self._catalog, self._selection)):
            record = dataset_row(self._dataset.dataset_id, index, item)
            row = sft_row(record, item)
            self.records.append(record)
            self.facts.append(facts(row, item))
            yield row


def _write_papers(
    folder: Path, dataset: Dataset, selection: Selection, validation: Validation, *, title: str, license: str
) -> None:
    """Everything in the folder that is about the rows."""
    write_json(folder / "manifest.json", manifest(dataset, selection, validation))
    (folder / "validation.md").write_text(validation_markdown(title, validation), "utf-8")
    (folder / "validation.html").write_text(validation_html(title, validation), "utf-8")
    text = card(
        name=dataset.name,
        kind=dataset.kind,
        dataset_id=dataset.dataset_id,
        rows=dataset.rows,
        files=[("train", parquet_name("train"))],
        tags=["spade", "trl", dataset.kind],
        license=license,
        about="Conversations of an agent that won an executable environment by itself; each was replayed first.",
    )
    (folder / "README.md").write_text(text, "utf-8")
    write_checksums(folder)


def manifest(dataset: Dataset, selection: Selection, validation: Validation) -> dict[str, Any]:
    """What is in the folder and where it came from: JSON values, no times, so that it can be compared."""
    return {
        "dataset_id": dataset.dataset_id,
        "name": dataset.name,
        "kind": dataset.kind,
        "rows": dataset.rows,
        "selection": {"pool": selection.pool.value, "digest": selection.digest},
        "cycles": {cycle_id: len(ids) for cycle_id, ids in selection.by_cycle},
        "episode_ids": list(selection.episode_ids),
        "settings_hash": dataset.settings_hash,
        "versions": dict(dataset.versions),
        "validation": {"suite": validation.suite, "passed": validation.passed, "expectations": len(validation.checks)},
    }


def _versions() -> tuple[tuple[str, str], ...]:
    libraries = ("great-expectations", "pyarrow", "spade-factory")
    return (("format", FORMAT), *((name, version(name)) for name in libraries))


def _blocked(folder: Path, title: str, validation: Validation) -> Blocked:
    """The failed validation as pages beside the datasets, and as an error that names the first failing rows."""
    pages = folder.parent / "blocked" / folder.name
    folder_made(pages)
    (pages / "validation.md").write_text(validation_markdown(title, validation), "utf-8")
    (pages / "validation.html").write_text(validation_html(title, validation), "utf-8")
    first = validation.failed[0]
    rows = f" (rows {', '.join(first.rows[:3])})" if first.rows else f" ({first.observed})"
    return Blocked(
        f"{len(validation.failed)} expectations fail, so {folder.name} was not written: {first.expects}{rows}.",
        f"See {pages / 'validation.html'}.",
        validation,
        pages / "validation.html",
    )
