"""Every kind of dataset: its rows, its splits, and what keeps it from being written."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from data.catalog import Catalog
from data.export import Blocked, Export, Plan, export
from data.kinds.pool import import_pool, read_pool
from data.kinds.registry import KINDS
from data.splitting import Splits
from data.suites import SUITES
from spade.curation import Decision, Evidence, Pool, Rules, decide
from spade.documents import Document
from spade.errors import Abort
from tests.data.records import chain

REQUIRED = {
    "sft": ["messages"],
    "sft-mixed": ["messages", "origin"],
    "prompt-completion": ["prompt", "completion"],
    "dpo": ["prompt", "chosen", "rejected"],
    "kto": ["prompt", "completion", "label"],
    "grpo": ["prompt", "env_id", "seed"],
    "verl": ["data_source", "agent_name", "prompt", "ability", "reward_model", "extra_info"],
    "slime": ["prompt", "label", "metadata"],
    "nemo-gym": ["responses_create_params"],
    "gymnasium": ["observation"],
    "openenv": ["observation"],
    "verifiers": ["prompt"],
    "harbor": ["observation"],
    "atif": ["trajectory"],
    "pool": ["file", "code"],
}
OF_TOOLS = {"sft-tools"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Two chains, and losses on the seeds of wins so that there are pairs."""
    catalog = Catalog(tmp_path / "home")
    for number in range(2):
        chain(catalog, number)
    lost = [
        replace(e, asked=replace(e.asked, play=50 + e.asked.play, round=1), won=False, return_=0.25)
        for e in catalog.episodes(arm="plain", won=True)
    ]
    differing = [replace(e, turns=(e.turns[0], replace(e.turns[1], reply="\\boxed{0}", reward=0.25))) for e in lost]
    catalog.append("episodes", differing)
    catalog.append("decisions", decide(differing, Evidence(solvable=frozenset(e.asked.env_id for e in lost))))
    return catalog


def rows_of(exported: Export | None, split: str = "train") -> list[dict[str, Any]]:
    assert exported is not None
    rows = [json.loads(line) for line in (exported.folder / f"{split}.jsonl").read_text("utf-8").splitlines()]
    assert pq.read_table(exported.folder / "data" / f"{split}-00000-of-00001.parquet").to_pylist() == rows
    return rows


@pytest.mark.parametrize("kind", REQUIRED)
def test_every_kind_has_its_columns_and_its_lineage(catalog: Catalog, tmp_path: Path, kind: str) -> None:
    exported = export(catalog, tmp_path, Plan(kind, "try"))
    rows = rows_of(exported)
    assert rows
    for row in rows:
        assert list(row) == KINDS[kind].schema.names
        assert all(row[column] is not None for column in REQUIRED[kind])
        assert all(row[f"{name}_id"] for name in ("row", "env", "attempt", "slot", "document", "prompt"))
    assert exported is not None
    assert f"kind `{kind}`" in (exported.folder / "README.md").read_text()


def test_prompts_and_completions_are_the_conversation(catalog: Catalog, tmp_path: Path) -> None:
    whole = {row["episode_id"]: row["messages"] for row in rows_of(export(catalog, tmp_path, Plan("sft", "a")))}
    rows = rows_of(export(catalog, tmp_path, Plan("prompt-completion", "a")))
    assert len(rows) == 2 * len(whole)
    for row in rows:
        said = row["prompt"] + row["completion"]
        assert said == whole[row["episode_id"]][: len(said)]
        assert row["completion"][-1]["role"] == "assistant"


def test_pairs_begin_alike_and_end_differently(catalog: Catalog, tmp_path: Path) -> None:
    rows = rows_of(export(catalog, tmp_path, Plan("dpo", "a")))
    episodes = {e.episode_id: e for e in catalog.episodes()}
    assert len(rows) == 4
    for row in rows:
        chosen, rejected = episodes[row["episode_id"]], episodes[row["rejected_episode_id"]]
        assert chosen.won
        assert not rejected.won
        assert chosen.asked.seed == rejected.asked.seed
        assert row["chosen"] != row["rejected"]
    assert {r.paired_episode_id for r in catalog.dataset_rows()} == {row["rejected_episode_id"] for row in rows}


def test_labels_follow_the_outcome(catalog: Catalog, tmp_path: Path) -> None:
    rows = rows_of(export(catalog, tmp_path, Plan("kto", "a")))
    assert all(row["label"] == (row["return"] == 1.0) for row in rows)
    assert {row["label"] for row in rows} == {True, False}


def test_tasks_come_with_their_programs(catalog: Catalog, tmp_path: Path) -> None:
    exported = export(catalog, tmp_path, Plan("grpo", "a"))
    rows = rows_of(exported)
    assert exported is not None
    programs = {path.stem: path.read_text() for path in (exported.folder / "programs").iterdir()}
    assert programs == {e.env_id: e.code for e in catalog.environments()}
    assert {row["env_id"] for row in rows} == set(programs)
    assert len({(row["env_id"], row["seed"]) for row in rows}) == len(rows)
    assert (exported.folder / "spade_trl.py").exists()
    assert all(0.15 <= row["win_rate"] <= 0.85 for row in rows)


def test_the_verifiers_package_reads_moves_without_anything_of_ours(catalog: Catalog, tmp_path: Path) -> None:
    """Boxes in games; in tool-use games calls in every form, with the arguments that the greeting declares."""
    exported = export(catalog, tmp_path, Plan("verifiers", "a"))
    assert exported is not None
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from reading.acting import action_reader
from reading.messages import Completion
from reading.skills import Setting
print(action_reader(Setting("games"), "")(Completion("So \\\\boxed{7}.", "", "")))
call = '<tool_call>{"name": "find", "arguments": {"id": "A1"}}</tool_call>'
print(action_reader(Setting("tools"), "")(Completion(call, "", "")))
assert not any(name.startswith("spade.") for name in sys.modules)
"""
    folder = exported.folder / "spade_tasks"
    said = subprocess.run([sys.executable, "-I", "-c", program, folder], capture_output=True, text=True, check=True)
    assert said.stdout == '7\n{"name": "find", "arguments": {"id": "A1"}}\n'


def test_documents_are_never_in_two_splits(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "home")
    for number in range(12):
        chain(catalog, number)
    exported = export(catalog, tmp_path, Plan("sft", "split", shares={"train": 0.5, "test": 0.5}, seed=3))
    train, test = ({row["document_id"] for row in rows_of(exported, split)} for split in ("train", "test"))
    assert train
    assert test
    assert not train & test
    assert len(train | test) == 12
    again = export(catalog, tmp_path / "b", Plan("sft", "split", shares={"train": 0.5, "test": 0.5}, seed=4))
    assert again is not None
    assert exported is not None
    assert again.dataset.dataset_id != exported.dataset.dataset_id


def test_documents_behind_one_structure_share_a_split(tmp_path: Path) -> None:
    """Twelve programs that differ in a comment only are one program with twelve documents."""
    catalog = Catalog(tmp_path / "home")
    for number in range(12):
        cycle, _ = chain(catalog, number)
        slot = replace(catalog.slots(cycle_id=cycle.cycle_id)[0], index=1)
        environment = replace(catalog.environments()[0], code=f"class SameEnv: ...  # {number}")
        attempt = next(a for a in catalog.attempts() if a.accepted)
        catalog.append("environments", [environment])
        catalog.append("slots", [slot])
        catalog.append("attempts", [replace(attempt, slot_id=slot.slot_id, env_id=environment.env_id)])
    selection = KINDS["sft"].select(catalog, None)
    splits = Splits.over(catalog, selection, {"train": 0.5, "test": 0.5}, 0)
    assert len({splits.of(d.document_id) for d in catalog.documents()}) == 1


def spoil_text(catalog: Catalog) -> str:
    """A secret in what the environment said."""
    won = next(e for e in catalog.episodes() if e.won)
    turns = (replace(won.turns[0], observation="Write to jane.doe@mail.acme.org"), *won.turns[1:])
    odd = replace(won, asked=replace(won.asked, play=70), turns=turns)
    catalog.append("episodes", [odd])
    catalog.append("decisions", [Decision(odd.episode_id, Pool.POSITIVE, True, rules=Rules().name)])
    return "e-mail address"


def spoil_document(catalog: Catalog) -> str:
    """A secret in the document alone, which no agent ever saw."""
    slot = catalog.slots()[0]
    text = "Our deployment key is AKIA" + "IOSFODNN7EXAMPLE, keep it."
    catalog.append("slots", [replace(slot, document_id=Document(text).document_id, index=9)])
    attempt = next(a for a in catalog.attempts() if a.accepted)
    catalog.append("documents", [Document(text)])
    new_slot = next(s for s in catalog.slots() if s.index == 9)
    environment = replace(catalog.environments()[0], code="class LeakEnv: ...")
    catalog.append("environments", [environment])
    catalog.append("attempts", [replace(attempt, slot_id=new_slot.slot_id, env_id=environment.env_id)])
    won = next(e for e in catalog.episodes(cycle_id=slot.cycle_id) if e.won)
    turns = (replace(won.turns[0], observation="A new game."), *won.turns[1:])
    odd = replace(won, asked=replace(won.asked, env_id=environment.env_id), turns=turns)
    catalog.append("episodes", [odd])
    catalog.append("decisions", [Decision(odd.episode_id, Pool.POSITIVE, True, rules=Rules().name)])
    return "AWS key"


@pytest.mark.parametrize("spoil", [spoil_text, spoil_document])
def test_planted_secrets_block_the_export(catalog: Catalog, tmp_path: Path, spoil: Callable[[Catalog], str]) -> None:
    found = spoil(catalog)
    with pytest.raises(Blocked, match=found) as blocked:
        export(catalog, tmp_path, Plan("sft", "leak"))
    page = blocked.value.page.read_text()
    assert found in page
    assert "jane.doe" not in page
    assert "IOSFODNN7EXAMPLE" not in page
    assert [p.name for p in (tmp_path / "datasets").iterdir()] == ["blocked"]


def test_a_pool_is_read_back_as_it_was_written(catalog: Catalog, tmp_path: Path) -> None:
    exported = export(catalog, tmp_path, Plan("pool", "pool"))
    assert exported is not None
    other = Catalog(tmp_path / "other")

    pool = import_pool(other, exported.folder)

    assert pool.broken == ()
    assert {e.env_id for e in other.environments()} == {e.env_id for e in catalog.environments()}
    assert all(v.verdict.message.startswith("imported from") for v in other.verdicts())


def test_broken_files_of_a_pool_are_named(catalog: Catalog, tmp_path: Path) -> None:
    exported = export(catalog, tmp_path, Plan("pool", "pool"))
    assert exported is not None
    games = exported.folder / "games"
    changed = sorted(games.iterdir())[0]
    changed.write_text("class XEnv: ...\n")
    (games / "game_9_0_optimization.py").write_bytes(b"\xff")
    (games / "game_9_1_optimization.py").write_text("class (")
    (games / "game_9_2_juggling.py").write_text("class XEnv: ...\n")
    (games / "game_9_3_optimization.py").write_text("#" * 70_000)

    broken = dict(read_pool(exported.folder).broken)

    assert [reason.split(":")[0] for _, reason in sorted(broken.items())] == [
        "its checksum differs from checksums.sha256", "it is not UTF-8", "it is not Python",
        "it names no skill that is known", "it is larger than 65536 bytes",
    ]  # fmt: skip
    with pytest.raises(Abort, match="holds no games"):
        read_pool(tmp_path)


def test_every_kind_is_the_same_bytes_twice(catalog: Catalog, tmp_path: Path) -> None:
    """Packages, programs and papers included."""
    for kind in KINDS:
        folders = [export(catalog, tmp_path / place, Plan(kind, "same")) for place in ("a", "b")]
        contents = [
            {p.relative_to(e.folder): p.read_bytes() for p in e.folder.rglob("*") if p.is_file()} for e in folders if e
        ]
        if kind in OF_TOOLS:
            assert contents == []  # there are only games here; test_tool_use.py exports these
        else:
            assert contents[0] == contents[1], kind


def test_nothing_undeclared_is_exported() -> None:
    assert set(REQUIRED) | OF_TOOLS == set(KINDS) == set(SUITES)


def test_a_kind_that_there_is_not(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(Abort, match="no dataset kind 'grpc'"):
        export(catalog, tmp_path, Plan("grpc", "x"))


def test_a_cycle_decided_twice_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    episodes = catalog.episodes(arm="plain")
    catalog.append(
        "decisions", decide(episodes, Evidence(frozenset(e.episode_id for e in episodes)), Rules(max_turns=9))
    )
    with pytest.raises(Abort, match="several sets of rules"):
        export(catalog, tmp_path, Plan("sft", "x"))
