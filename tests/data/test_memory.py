"""The memory finds what is near, keeps one row an environment, and works from several processes."""

import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.embedding import HashedEmbedder, open_embedder
from data.memory import VectorMemory, open_memory
from spade.environments import Environment
from spade.hints import Hint
from spade.lessons import Summary
from spade.messages import Completion, Guide
from spade.recall import Remembered, lessons_for
from spade.scores import ArmScore, Score
from spade.settings import MemorySettings
from spade.skills import Setting, Skill
from spade.slots import Slot

SKILL = Skill.LOGICAL_DEDUCTION


@pytest.fixture
def memory(tmp_path: Path) -> VectorMemory:
    return VectorMemory(tmp_path, HashedEmbedder())


def environment(title: str = "Guess", code: str = "class AEnv: ...") -> Environment:
    return Environment(code, Setting.GAMES, SKILL, title, "halve the range", Guide(choices=("a", "b")))


def scored(env: Environment, win_rate: float | None, regret: float | None = 0.2) -> Score:
    arm = ArmScore(8, 8, 4, win_rate, win_rate)
    return Score("cycle-0", env.env_id, arm, arm, "blend", regret=regret)


def slot(skill: Skill = SKILL) -> Slot:
    return Slot("cycle-1", 0, Setting.GAMES, skill, "doc-0", 7)


def hint(env: Environment) -> Hint:
    return Hint(env.env_id, 0, "think first", "prompt-0", Completion("think first", "m", "w"))


def test_what_is_remembered_comes_back_whole(memory: VectorMemory) -> None:
    env = environment()
    memory.remember(env, hint(env), scored(env, 0.5))

    (known,) = memory.of_skill(SKILL)
    assert known == Remembered(env.env_id, "Guess", "halve the range", 0.5, 0.2, known.order)
    assert memory.environment(env.env_id) == env
    assert memory.nearest("guess", 1)[0].payload["hint"] == "think first"
    assert memory.of_skill(Skill.OPTIMIZATION) == []


def test_the_same_environment_again_is_one_row_with_the_new_score(memory: VectorMemory) -> None:
    env = environment()
    memory.remember(env, None, scored(env, 0.5))
    memory.remember(env, None, scored(env, 0.95))
    assert [r.win_rate for r in memory.of_skill(SKILL)] == [0.95]


def test_near_texts_are_nearer_than_far_ones(memory: VectorMemory) -> None:
    memory.add("env-guess", "guess a hidden number by halving the range", {"a": 1})
    memory.add("env-maze", "walk through a maze to the exit without hitting walls", {})

    near, far = memory.nearest("guess the hidden number by halving a range", 5)

    assert near.env_id == "env-guess"
    assert near.payload == {"a": 1}
    assert 1.0 >= near.similarity > 0.7 > 0.3 > far.similarity
    assert memory.nearest("guess a hidden number by halving the range", 1)[0].similarity == pytest.approx(1.0, abs=1e-5)


def test_an_empty_memory_has_nothing_to_say(memory: VectorMemory) -> None:
    assert memory.nearest("anything", 3) == []
    lessons = lessons_for(memory, slot(), MemorySettings())
    assert lessons.examples == lessons.mastered == lessons.out_of_reach == ()


def test_lessons_come_from_the_memory(memory: VectorMemory) -> None:
    for title, win_rate in (("Easy", 1.0), ("Good", 0.5), ("Hard", 0.0), ("Unmeasured", None)):
        env = environment(title, f"class {title}Env: ...")
        memory.remember(env, None, scored(env, win_rate))

    lessons = lessons_for(memory, slot(), MemorySettings())

    assert [e.environment.title for e in lessons.examples] == ["Good"]
    assert lessons.mastered == (Summary("Easy", "halve the range", 1.0),)
    assert lessons.out_of_reach == (Summary("Hard", "halve the range", 0.0),)


def _add(memory: VectorMemory, first: int) -> None:
    for i in range(first, first + 5):
        memory.add(f"env-{i % 8}", f"text {i}", {})


def test_several_processes_write_at_once(memory: VectorMemory) -> None:
    """Two writers with keys in common: every key once, nothing lost."""
    memory.add("env-0", "text 0", {})
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add, args=(memory, first)) for first in (0, 4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert sorted(r.env_id for r in memory.nearest("text", 100)) == [f"env-{i}" for i in range(8)]


def test_a_memory_can_be_sent_to_another_process(memory: VectorMemory) -> None:
    memory.add("env-0", "text", {})
    assert pickle.loads(pickle.dumps(memory)).nearest("text", 1)[0].env_id == "env-0"


def test_the_fallback_says_what_it_is() -> None:
    embedder = open_embedder("hashed")
    assert not embedder.semantic
    assert "spelling, not meaning" in embedder.describe()
    assert open_memory(MemorySettings(embedder="hashed"), Path("unused")).semantic is False


def test_a_large_memory_is_indexed_and_still_finds(memory: VectorMemory) -> None:
    memory.add_all([(f"env-{i}", f"number {i} door {i % 31} key {i % 17}", {}) for i in range(600)])
    memory.optimise(index_above=500)
    memory.add("env-new", "something else entirely, added after the index", {})
    assert memory.nearest("number 77 door 15 key 9", 1)[0].env_id == "env-77"
    assert memory.nearest("something else entirely, added after the index", 1)[0].env_id == "env-new"


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_hashed_vectors_have_length_one_or_nothing_to_say(texts: list[str]) -> None:
    """Any text at all, the same vector each time, at most 1 long so that cosines stay in [-1, 1]."""
    vectors = HashedEmbedder().embed(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all(np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0.0))
    assert np.array_equal(vectors, HashedEmbedder().embed(texts))
