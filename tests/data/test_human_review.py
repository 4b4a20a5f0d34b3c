"""Rows wait, people speak, datasets listen."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data.catalog import Catalog
from data.evidence import gathered
from data.export import Blocked, export_sft
from data.reviewing import queue_rows, take_in, waiting_for
from data.tables import REVIEWS
from flows.cli import app
from spade.curation import Pool, decide
from spade.curation_settings import CurationSettings
from spade.errors import Abort
from tests.data.records import chain


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = Catalog(tmp_path / "home")
    chain(catalog)
    export_sft(catalog, tmp_path / "home", name="first")
    return catalog


def spoken(catalog: Catalog, answers: str, *flags: str) -> str:
    home = str(catalog.folder.parent)
    said = CliRunner().invoke(app, ["review", "--home", home, *flags], input=answers, catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return said.output


def test_rows_wait_until_each_reviewer_has_spoken(catalog: Catalog) -> None:
    assert "2 rows" in spoken(catalog, "", "--sample", "9")
    assert "all rows wait already" in spoken(catalog, "", "--sample", "9")
    said = spoken(catalog, "maybe\ny\n4\n7\n5\nwell put\nq\n", "--reviewer", "ada")
    assert "Guess a number" in said
    assert "Water boils" in said
    assert "1 reviewed as ada, 1 wait" in said
    (review,) = catalog.read(REVIEWS)
    assert (review.correct, review.style, review.grounding, review.comment) == (True, 4, 5, "well put")
    assert len(waiting_for(catalog, "ada")) == 1
    assert len(waiting_for(catalog, "ben")) == 2


def test_a_refused_row_leaves_curation_and_export(catalog: Catalog, tmp_path: Path) -> None:
    queue_rows(catalog, "", 2)
    refused, kept = waiting_for(catalog, "ada")
    lines = [verdict(refused.row_id, "ada", False), verdict(refused.row_id, "ben", False), verdict(kept.row_id, "ada")]
    (tmp_path / "verdicts.jsonl").write_text("\n".join(lines))
    assert len(take_in(catalog, tmp_path / "verdicts.jsonl").reviews) == 3

    exported = export_sft(catalog, tmp_path, name="second")

    assert exported is not None
    assert [r.episode_id for r in catalog.dataset_rows(dataset_id=exported.dataset.dataset_id)] == [kept.episode_id]
    assert [json.loads(line)["reviewer"] for line in (exported.folder / "reviews.jsonl").open()] == ["ada"]
    (cycle,) = catalog.cycles()
    evidence = gathered(catalog, cycle.cycle_id, [], CurationSettings(), frozenset())
    decided = {d.episode_id: d for d in decide(catalog.episodes(), evidence) if d.pool is Pool.POSITIVE}
    assert decided[refused.episode_id].reason == "refused in review by 2 of 2"
    assert "2 reviewers" in spoken(catalog, "", "--agreement")


def test_reviews_are_in_the_manifest_and_name_the_dataset(catalog: Catalog, tmp_path: Path) -> None:
    """What was said is part of a dataset: with another review it is another dataset, with the same the same bytes."""
    queue_rows(catalog, "", 2)
    row, _ = waiting_for(catalog, "ada")
    (tmp_path / "verdicts.jsonl").write_text(verdict(row.row_id, "ada") + "\n" + verdict(row.row_id, "ben"))
    take_in(catalog, tmp_path / "verdicts.jsonl")
    one, two = (export_sft(catalog, tmp_path / place, name="first") for place in ("a", "b"))
    assert one is not None
    assert two is not None
    assert one.dataset.dataset_id != catalog.datasets()[0].dataset_id
    assert (one.folder / "reviews.jsonl").read_bytes() == (two.folder / "reviews.jsonl").read_bytes()
    said = json.loads((one.folder / "manifest.json").read_text())["reviews"]
    assert (said["reviews"], said["rows"], said["reviewers"]) == (2, 1, 2)
    assert said["agreement"][0]["share"] == 1.0


def test_a_secret_in_a_comment_blocks(catalog: Catalog, tmp_path: Path) -> None:
    queue_rows(catalog, "", 2)
    row, _ = waiting_for(catalog, "ada")
    (tmp_path / "verdicts.jsonl").write_text(verdict(row.row_id, "ada", comment="ask jane.roe@corp.de"))
    take_in(catalog, tmp_path / "verdicts.jsonl")
    with pytest.raises(Blocked, match="e-mail address"):
        export_sft(catalog, tmp_path, name="second")


def test_bad_verdicts_are_named_and_left_out(catalog: Catalog, tmp_path: Path) -> None:
    queue_rows(catalog, "", 2)
    row, _ = waiting_for(catalog, "ada")
    bad = ["{", "[]", verdict("row-nowhere", "ada"), verdict(row.row_id, "ada", style=9), '{"row_id": "x"}', "[" * 9999]
    (tmp_path / "verdicts.jsonl").write_text("\n".join([*bad, verdict(row.row_id, "ada")]))
    taken = take_in(catalog, tmp_path / "verdicts.jsonl")
    assert [number for number, _ in taken.broken] == [1, 2, 3, 4, 5, 6]
    assert len(taken.reviews) == 1


def test_nothing_to_review_is_said(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "home")
    chain(catalog)
    with pytest.raises(Abort, match="no dataset"):
        queue_rows(catalog, "", 2)
    with pytest.raises(Abort, match="cannot be read"):
        take_in(catalog, tmp_path / "nowhere.jsonl")


def verdict(row_id: str, reviewer: str, correct: bool = True, **more: object) -> str:
    return json.dumps({"row_id": row_id, "reviewer": reviewer, "correct": correct, "style": 3, "grounding": 4, **more})
