"""Rows that wait for people, their verdicts in the catalog, and what becomes of them: `refused` leaves datasets."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from data.catalog import Catalog
from data.selection import Selection
from data.tables import REVIEW_QUEUE, REVIEWS
from spade.errors import Abort, Skip
from spade.reviews import QueuedRow, Review, agreement, drawn


def queue_rows(catalog: Catalog, dataset_id: str, count: int, seed: int = 0) -> list[QueuedRow]:
    """Put up to `count` rows of a dataset into the queue, drawn at random; rows that wait already are not drawn.

    The newest dataset that has plays when `dataset_id` is empty. Raises `Abort` where there is none.
    """
    chosen = _dataset(catalog, dataset_id)
    there = {row.row_id for row in catalog.read(REVIEW_QUEUE, dataset_id=chosen)}
    rows = {r.row_id: r for r in catalog.dataset_rows(dataset_id=chosen) if r.episode_id and r.row_id not in there}
    queued = [
        QueuedRow(row_id, chosen, rows[row_id].episode_id) for row_id in drawn(rows, count, seed + len(there), chosen)
    ]
    catalog.append("review_queue", queued)
    return queued


def _dataset(catalog: Catalog, beginning: str) -> str:
    found = catalog.query(
        """select dataset_id, count(*) filter (r.episode_id <> '') as plays
        from datasets as d join dataset_rows as r using (dataset_id)
        where starts_with(dataset_id, ?) group by 1 having plays > 0""",
        [beginning],
    )
    ids = [
        dataset.dataset_id for dataset in catalog.datasets() if dataset.dataset_id in {f["dataset_id"] for f in found}
    ]
    if not ids or (beginning and len(ids) > 1):
        what = f"{len(ids)} datasets of plays begin with {beginning!r}" if beginning else "there is no dataset of plays"
        raise Abort(f"{what}.", "`spade sql 'select dataset_id, name, kind, rows from datasets'` lists them.")
    return ids[-1]


def waiting_for(catalog: Catalog, reviewer: str) -> list[QueuedRow]:
    """The queue less what this person has reviewed, in the order in which it was filled."""
    done = {review.row_id for review in catalog.read(REVIEWS, reviewer=reviewer)}
    return [row for row in catalog.read(REVIEW_QUEUE) if row.row_id not in done]


@dataclass(frozen=True, slots=True)
class TakenIn:
    """Reviews that were stored, and why lines were not: line number and reason."""

    reviews: tuple[Review, ...]
    broken: tuple[tuple[int, str], ...]


def take_in(catalog: Catalog, path: Path, reviewer: str = "") -> TakenIn:
    """Store the verdicts of a JSONL file: `row_id`, `correct`, `style`, `grounding`, and perhaps `comment` and
    `reviewer`. Lines that are no verdict on a queued row are left out and named. Raises `Abort` without the file."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise Abort(f"{path} cannot be read: {error.strerror}.", "Give a JSONL file.") from error
    queue = {row.row_id: row for row in catalog.read(REVIEW_QUEUE)}
    reviews, broken = list[Review](), list[tuple[int, str]]()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                reviews.append(_review(json.loads(line), queue, reviewer))
            except (ValueError, RecursionError, Skip) as error:
                broken.append((number, str(error)))
    catalog.append("reviews", reviews)
    return TakenIn(tuple(reviews), tuple(broken))


def _review(line: Any, queue: dict[str, QueuedRow], reviewer: str) -> Review:
    if not isinstance(line, dict) or not isinstance(line.get("row_id"), str):
        raise Skip("it is not an object with a row_id.")
    row = queue.get(line["row_id"])
    if row is None:
        raise Skip(f"{line['row_id']} does not wait for review.")
    person, comment = str(line.get("reviewer", reviewer)), str(line.get("comment", ""))
    correct, style, grounding = (line.get(name) for name in ("correct", "style", "grounding"))
    return Review(row.row_id, row.dataset_id, row.episode_id, person, correct, style, grounding, comment)  # type: ignore[arg-type]


def refusals(catalog: Catalog, cycle_id: str) -> dict[str, str]:
    """Episodes of a cycle that reviewers refused, with the reason."""
    rows = catalog.query(
        "select episode_id, reason from refused join episodes using (episode_id) where cycle_id = ?", [cycle_id]
    )
    return {row["episode_id"]: row["reason"] for row in rows}


def reviews_of(catalog: Catalog, selection: Selection) -> list[Review]:
    """All that was said about the episodes of a selection, in an order that does not depend on when."""
    ids = {part for key in selection.keys for part in key.split() if part.startswith("ep-")}
    found = [review for review in catalog.read(REVIEWS) if review.episode_id in ids]
    return sorted(found, key=lambda review: review.review_id)


def review_lines(reviews: Sequence[Review]) -> Iterator[str]:
    for review in reviews:
        line = {"review_id": review.review_id, **asdict(review)}
        yield json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n"


def summary_of(reviews: Sequence[Review]) -> dict[str, Any]:
    """How many, by how many people, and how far they agree: JSON values."""
    return {
        "reviews": len(reviews),
        "rows": len({review.row_id for review in reviews}),
        "reviewers": len({review.reviewer for review in reviews}),
        "agreement": [asdict(each) for each in agreement(reviews)],
    }
