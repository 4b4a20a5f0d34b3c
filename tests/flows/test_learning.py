"""Self-play and training as flows: real gates, sandbox, catalog, engine and updates; a model from nothing plays."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from data.catalog import Catalog
from data.corpus import open_corpus
from data.lineage import Node, lineage
from flows.self_play import self_play
from flows.train import train
from spade.blueprints import blueprint_prompt
from spade.corpus_settings import CorpusSettings
from spade.designing import Brief
from spade.skills import GAME_SKILLS, Setting
from spade.slots import Slot
from training.batch_files import read_batch
from training.checkpoints import Checkpoints, damaged
from training.scratch import scratch_model, scratch_tokenizer

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as transformers writes them, with weights from nothing."""
    folder = tmp_path_factory.mktemp("base") / "scratch"
    documents = open_corpus(CorpusSettings()).draw(0, 0, 12)
    slots = [Slot("c", n, Setting.GAMES, GAME_SKILLS[n % 6], d.document_id, n) for n, d in enumerate(documents)]
    asked = [blueprint_prompt(Brief(s, d)).messages[-1].content for s, d in zip(slots, documents, strict=True)]
    tokenizer = scratch_tokenizer([*asked, *asked], 1500)
    scratch_model(tokenizer, width=32, layers=1).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory, base: Path, prefect_server: None) -> Path:
    """The folder of a cycle of self-play with two rounds, so two updates."""
    home = tmp_path_factory.mktemp("learned")
    given: dict[str, Any] = {"base": f"path:{base}", "home": str(home), "slots": 3, "plays": 6, "rounds": 2}
    (summary,) = asyncio.run(self_play(profile="starter", cycles=1, **given))
    assert summary["accepted"] >= 1
    return home


def test_an_update_may_be_made_while_the_next_round_is_played(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then plays are one update old, say so in their batch, and each update still follows from the one before."""
    monkeypatch.setenv("SPADE_TRAINING__OVERLAP", "true")
    given: dict[str, Any] = {"base": f"path:{base}", "home": str(tmp_path), "slots": 3, "plays": 6, "rounds": 3}
    asyncio.run(self_play(profile="starter", cycles=1, **given))
    first, second, third = Checkpoints(tmp_path / "checkpoints").all()
    catalog = Catalog(tmp_path)

    played = {e.asked.round: e.weights for e in catalog.episodes(arm="plain") if e.turns}
    assert played == {0: "scratch@start", 1: "scratch@start", 2: first.record.checkpoint_id}
    assert [second.record.parent, third.record.parent] == [first.record.checkpoint_id, second.record.checkpoint_id]
    for record in catalog.query("select * from train_batches"):
        samples = read_batch(tmp_path / "batches" / record["batch_id"]).samples
        assert {s.late for s in samples if s.role == "agent"} <= {record["round"] > 0}


def walked(node: Node) -> set[str]:
    return {node.kind}.union(*(walked(n) for n in node.neighbours))


def test_each_round_is_played_by_the_weights_of_the_update_before(learned: Path) -> None:
    first, second = Checkpoints(learned / "checkpoints").all()
    played = {e.asked.round: e.weights for e in Catalog(learned).episodes(arm="plain") if e.turns}
    assert played == {0: "scratch@start", 1: first.record.checkpoint_id}
    assert second.record.parent == first.record.checkpoint_id
    assert not damaged(second)


def test_a_batch_holds_plain_plays_of_its_round_and_the_last_one_the_designs(learned: Path) -> None:
    catalog = Catalog(learned)
    arms = {e.episode_id: (e.asked.arm, e.asked.round) for e in catalog.episodes()}
    for record in catalog.query("select * from train_batches"):
        batch = read_batch(learned / "batches" / record["batch_id"])
        subjects = {s.subject_id for s in batch.samples if s.role == "agent"}
        assert {arms[s] for s in subjects} <= {("plain", record["round"])}
        designs = {s.subject_id for s in batch.samples if s.role == "designer"}
        assert not designs or record["round"] == 1


def test_a_checkpoint_leads_back_to_what_it_learned_from(learned: Path) -> None:
    catalog = Catalog(learned)
    trained = catalog.query("select c.checkpoint_id from checkpoints as c join train_rows using (batch_id) limit 1")
    assert trained, "some round had a gradient"
    kinds = walked(lineage(catalog, trained[0]["checkpoint_id"]).up)
    assert {"ckpt", "batch", "ep", "env", "attempt", "doc"} <= kinds


async def test_the_checkpoints_page_names_the_environments(learned: Path) -> None:
    catalog = Catalog(learned)
    (row, *_) = catalog.query(
        "select c.checkpoint_id, r.env_id from checkpoints as c join train_rows as r using (batch_id)"
    )
    async with get_client() as client:
        wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[row["checkpoint_id"]]))
        (page, *_) = await client.read_artifacts(artifact_filter=wanted)
    assert f"/artifacts/key/{row['env_id']}" in str(page.data)
    assert row["env_id"] in {e.env_id for e in catalog.environments()}


def test_stored_rounds_are_learned_from_once(learned: Path, base: Path, tmp_path: Path) -> None:
    """From the same plays, in another folder without checkpoints: two updates, then nothing is left to do."""
    import shutil

    shutil.copytree(learned / "catalog", tmp_path / "catalog")
    given = {"profile": "starter", "base": f"path:{base}", "home": str(tmp_path)}
    first = asyncio.run(train(**given, updates=1))
    rest = asyncio.run(train(**given))
    assert [len(first), len(rest), len(asyncio.run(train(**given)))] == [1, 1, 0]
    assert [c.record.update for c in Checkpoints(tmp_path / "checkpoints").all()][-1] >= 1


def test_an_update_by_several_processes_is_the_one_of_this_process(
    learned: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same plays: the same checkpoint to rounding, and the next update goes on from it."""
    import shutil

    import torch

    found = {}
    for processes in ("1", "2"):
        monkeypatch.setenv("SPADE_TRAINING__PROCESSES", processes)
        monkeypatch.setenv("SPADE_TRAINING__AGENT__LEARNING_RATE", "1e-3")
        home = tmp_path / processes
        shutil.copytree(learned / "catalog", home / "catalog")
        given = {"profile": "starter", "base": f"path:{base}", "home": str(home)}
        assert len(asyncio.run(train(**given, updates=1))) == 1
        (saved,) = Checkpoints(home / "checkpoints").all()
        found[processes] = torch.load(saved.folder / "trainer.pt", weights_only=True)["trained"]["agent"]
        assert len(asyncio.run(train(**given))) == 1, "the second round goes on from the first"
    apart = torch.cat([(value - found["2"][name]).abs().flatten() for name, value in found["1"].items()])
    assert (apart > 1e-5).float().mean() < 0.01


def test_missing_tokens_are_refused_with_a_remedy(learned: Path, base: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from spade.errors import Abort

    source, bare = Catalog(learned), Catalog(tmp_path)
    for table in (
        "cycles",
        "documents",
        "slots",
        "prompts",
        "attempts",
        "environments",
        "hints",
        "scores",
        "summaries",
    ):
        bare.append(table, getattr(source, table)())
    episodes = source.episodes()
    bare.append("episodes", [replace(e, turns=tuple(replace(t, tokens=None) for t in e.turns)) for e in episodes])
    with pytest.raises(Abort, match=r"missing tokens.*vLLM or the torch engine"):
        asyncio.run(train(profile="starter", base=f"path:{base}", home=str(tmp_path)))


def test_remembered_environments_are_played_again(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a replay share the second cycle designs fewer and plays an environment of the first once more."""
    monkeypatch.setenv("SPADE_TRAINING__REPLAY__IN_BAND", "0.5")
    monkeypatch.setenv("SPADE_TRAINING__REPLAY__MASTERED", "0.5")
    monkeypatch.setenv("SPADE_TRAINING__REPLAY__DRAW", "win_rate")
    given: dict[str, Any] = {"base": f"path:{base}", "home": str(tmp_path), "slots": 2, "plays": 4, "rounds": 1}
    asyncio.run(self_play(profile="starter", cycles=2, **given))
    catalog = Catalog(tmp_path)
    cycles = sorted(catalog.cycles(), key=lambda c: c.number)
    envs = [{e.asked.env_id for e in catalog.episodes(cycle_id=c.cycle_id)} for c in cycles]
    teachable = catalog.query(
        "select 1 from scores where plain.win_rate between 0.15 and 1 and cycle_id = ?", [cycles[0].cycle_id]
    )
    assert bool(envs[0] & envs[1]) == bool(teachable)
