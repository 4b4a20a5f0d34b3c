"""A dataset is whole, checked, the same each time, and every row of it can be traced."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from data.catalog import Catalog
from data.export import Blocked, export_sft
from data.pages import markdown_text
from spade.curation import Decision, Pool, Rules
from tests.data.records import chain


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "home")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_positives_become_conversations_with_lineage(catalog: Catalog, tmp_path: Path) -> None:
    cycle, env_id = chain(catalog)

    exported = export_sft(catalog, tmp_path, name="first", settings_hash="abc", cycle_ids=[cycle.cycle_id])

    assert exported is not None
    rows = [json.loads(line) for line in (exported.folder / "train.jsonl").read_text().splitlines()]
    assert len(rows) == exported.dataset.rows == 2
    assert [m["role"] for m in rows[0]["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert {row["env_id"] for row in rows} == {env_id}
    assert all(rows[0][column] for column in ("row_id", "attempt_id", "slot_id", "document_id", "prompt_id", "model"))
    assert pq.read_table(exported.folder / "data" / "train-00000-of-00001.parquet").to_pylist() == rows
    assert exported.validation.passed
    manifest = json.loads((exported.folder / "manifest.json").read_text())
    assert manifest["rows"] == 2
    assert manifest["settings_hash"] == "abc"
    assert catalog.datasets() == [exported.dataset]
    assert [r.row_id for r in catalog.dataset_rows()] == [row["row_id"] for row in rows]


def test_two_exports_of_one_selection_are_the_same_bytes(catalog: Catalog, tmp_path: Path) -> None:
    """Even when the second catalog got its records in another order."""
    chain(catalog, 0)
    chain(catalog, 1)
    other = Catalog(tmp_path / "other")
    chain(other, 1)
    chain(other, 0)

    one = export_sft(catalog, tmp_path / "a", name="same")
    two = export_sft(other, tmp_path / "b", name="same")
    again = export_sft(catalog, tmp_path / "a", name="same")

    assert one is not None
    assert two is not None
    assert again is not None
    assert one.dataset.rows == 4
    assert files_of(one.folder) == files_of(two.folder) == files_of(again.folder)
    assert len(catalog.dataset_rows()) == one.dataset.rows


def test_of_equal_transcripts_in_two_cycles_one_is_exported(catalog: Catalog, tmp_path: Path) -> None:
    """Curation sees one cycle at a time."""
    chain(catalog)
    twins = [replace(e, asked=replace(e.asked, round=1)) for e in catalog.episodes(arm="plain", won=True)]
    catalog.append("episodes", twins)
    catalog.append("decisions", [Decision(e.episode_id, Pool.POSITIVE, True, rules=Rules().name) for e in twins])
    exported = export_sft(catalog, tmp_path, name="twins")
    assert exported is not None
    assert [r.episode_id for r in catalog.dataset_rows()] == [
        e.episode_id for e in catalog.episodes(round=0, arm="plain", won=True)
    ]


def test_checksums_are_those_of_the_files(catalog: Catalog, tmp_path: Path) -> None:
    chain(catalog)
    exported = export_sft(catalog, tmp_path, name="sums")
    assert exported is not None
    subprocess.run(["sha256sum", "--check", "--strict", "checksums.sha256"], cwd=exported.folder, check=True)


def test_no_positive_is_no_dataset(catalog: Catalog, tmp_path: Path) -> None:
    assert export_sft(catalog, tmp_path, name="none") is None
    assert not (tmp_path / "datasets").exists()


def test_a_broken_expectation_blocks_the_export_and_names_the_rows(catalog: Catalog, tmp_path: Path) -> None:
    """A loss that a wrong decision kept; one whose text was mended in the store is not even selected."""
    chain(catalog)
    lost = next(e for e in catalog.episodes() if e.won is False)
    odd = replace(lost, asked=replace(lost.asked, play=76))
    mended = replace(lost, asked=replace(lost.asked, play=77), final_observation="\ud800")
    catalog.append("episodes", [odd, mended])
    kept = [Decision(e.episode_id, Pool.POSITIVE, True, rules=Rules().name) for e in (odd, mended)]
    catalog.append("decisions", kept)

    with pytest.raises(Blocked, match="expectations fail") as blocked:
        export_sft(catalog, tmp_path, name="bad")

    failed = {check.expects.split(" ")[0]: check for check in blocked.value.validation.failed}
    assert set(failed) == {"return"}
    assert all(len(check.rows) == 1 and check.rows[0].startswith("row-") for check in failed.values())
    assert failed["return"].rows[0] in blocked.value.page.read_text()
    assert [p.name for p in (tmp_path / "datasets").iterdir()] == ["blocked"]
    assert catalog.datasets() == []


def test_an_environment_without_its_attempt_is_not_exported(catalog: Catalog, tmp_path: Path) -> None:
    """A row that cannot be traced to a document never leaves."""
    chain(catalog)
    won = next(e for e in catalog.episodes() if e.won)
    stray = replace(won, asked=replace(won.asked, env_id="env-" + "0" * 16))
    catalog.append("episodes", [stray])
    catalog.append("decisions", [Decision(stray.episode_id, Pool.POSITIVE, True, rules=Rules().name)])
    with pytest.raises(Blocked, match="attempt_id"):
        export_sft(catalog, tmp_path, name="stray")


def test_markdown_is_text_not_markup() -> None:
    assert markdown_text("a|b\n<script>") == "a\\|b \\<script\\>"
