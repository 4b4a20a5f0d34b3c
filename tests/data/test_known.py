"""The pool knows what was accepted, also what is not scored yet and what another process stored."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from data.catalog import Catalog
from data.clusters import REACH, cluster_of_last
from data.embedding import HashedEmbedder
from data.known import WINDOW, Known
from data.memory import VectorMemory
from data.near_code import CANDIDATES, NearCode, sketch_of
from data.tables import CODE_MARKS
from spade.environments import Environment
from spade.near_code import jaccard, marks
from spade.settings import MemorySettings
from spade.skills import Setting, Skill
from tests.data.records import chain
from tests.fakes import dial_lock

LIBRARY = sorted((Path(__file__).parents[2] / "examples" / "environments").rglob("*.py"))
CODES = {path.stem: path.read_text("utf-8") for path in LIBRARY}


def environment(code: str, title: str) -> Environment:
    return Environment(code, Setting.GAMES, Skill.OPTIMIZATION, title, f"how {title} works")


def indexed(codes: dict[str, str]) -> NearCode:
    found = NearCode(lambda env_ids: {env_id: codes[env_id] for env_id in env_ids})
    for env_id, code in codes.items():
        found.add(env_id, sketch_of(code))
    return found


def test_unrelated_programs_share_little_and_none_of_the_library_is_near_another() -> None:
    shares = [jaccard(marks(a), marks(b)) for a, b in combinations(CODES.values(), 2)]
    assert max(shares) < 0.5
    index = indexed(CODES)
    near = [index.nearest(env_id, code) for env_id, code in CODES.items()]
    assert all(twin is None or twin.similarity < 0.5 for twin in near)


@pytest.mark.parametrize("name", CODES)
def test_a_program_with_other_names_in_a_few_places_is_found_by_its_exact_similarity(name: str) -> None:
    lines = CODES[name].splitlines()
    changed = "\n".join([*lines, "EXTRA = 41", "def unused(a):", "    return a + EXTRA"])
    twin = indexed(CODES).nearest("env-new", changed)

    assert twin is not None
    assert twin.env_id == name
    assert twin.similarity == jaccard(marks(changed), marks(CODES[name])) > 0.9


def test_the_same_game_with_other_numbers_is_near() -> None:
    codes = {f"{dials}-{turns}": dial_lock(dials, turns) for dials in (2, 3) for turns in (9, 20)}
    twin = indexed(codes).nearest("env-new", dial_lock(4, 12))
    assert twin is not None
    assert twin.similarity > MemorySettings().duplicate_code


def test_a_twin_that_is_not_stored_yet_is_found_by_its_code() -> None:
    index = NearCode(lambda _: {})
    index.add("env-1", sketch_of(CODES["water_jugs"]), CODES["water_jugs"])
    twin = index.nearest("env-2", CODES["water_jugs"] + "\nEXTRA = 1")
    assert twin is not None
    assert twin.env_id == "env-1"


def test_among_many_alike_the_nearest_is_found_and_few_programs_are_read() -> None:
    """A factory that compiles programs from forms has thousands that share most of their code."""
    codes = {f"env-{n:03}": dial_lock(2 + n % 3, 4 + n % 20) + f"\n\nTABLE = {list(range(3 * n))}" for n in range(120)}
    read: list[str] = []

    def codes_of(env_ids: Sequence[str]) -> dict[str, str]:
        read.extend(env_ids)
        return {env_id: codes[env_id] for env_id in env_ids}

    index = NearCode(codes_of)
    for env_id, code in codes.items():
        index.add(env_id, sketch_of(code))

    twin = index.nearest("env-new", codes["env-077"].replace("class ", "class New"))

    assert twin is not None
    assert (twin.env_id, len(read)) == ("env-077", CANDIDATES)
    index.nearest("env-new", codes["env-077"].replace("class ", "class New"))
    assert len(read) == CANDIDATES, "those at hand are not read again"


def test_one_maze_many_times_is_a_cluster_and_different_things_are_none() -> None:
    random = np.random.default_rng(3)
    base = random.normal(size=(24, 64))
    maze = base[0] + 0.3 * random.normal(size=(20, 64))
    vectors = np.concatenate([base, maze]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    assert set(cluster_of_last(vectors)) >= set(range(24, 43))
    assert cluster_of_last(np.concatenate([vectors, vectors[5:6]])) in ([], [5])
    assert cluster_of_last(vectors[:24]) == []
    assert cluster_of_last(vectors[24:]) != [], "nothing but one maze"


@pytest.mark.parametrize("seed", range(24))
def test_nothing_beyond_reach_is_of_one_cluster_however_things_lie(seed: int) -> None:
    """scikit-learn 1.9 with numpy 2.4 fails on two of these when it looks for the reach itself."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(1 + seed % 5, 8))
    vectors = centres[random.integers(0, len(centres), 60)] + random.uniform(0.1, 0.9) * random.normal(size=(60, 8))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    near = cluster_of_last(vectors)

    held = vectors[[59, *near]]
    distances = np.linalg.norm(held[:, None] - held[None], axis=-1) + 9 * np.eye(len(held))
    assert not near or float(distances.min(axis=1).max()) <= REACH + 1e-6


@pytest.fixture
def memory(tmp_path: Path) -> VectorMemory:
    return VectorMemory(tmp_path, HashedEmbedder())


async def test_what_was_accepted_and_not_scored_yet_is_a_neighbour(memory: VectorMemory, tmp_path: Path) -> None:
    """Slots of one cycle are designed side by side: the memory hears of them only when they are scored."""
    known = Known(memory, Catalog(tmp_path))
    first = environment(CODES["water_jugs"], "Two jugs")
    await known.add(first, "cycle-1")

    pool = known.pool(environment(CODES["ferry_load"], "Two jugs"), "cycle-1", MemorySettings(), slots=8)

    assert pool.nearest[0].env_id == first.env_id
    assert (pool.cycles[first.env_id], pool.cycle_id) == ("cycle-1", "cycle-1")
    assert pool.nearest[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert pool.cluster_most == 4
    assert pool.semantic is False


async def test_six_of_a_kind_fill_a_cycle_and_leave_the_next_one_free(memory: VectorMemory, tmp_path: Path) -> None:
    known = Known(memory, Catalog(tmp_path))
    for number in range(6):
        await known.add(environment(f"class A{number}Env: ...", "The maze of the minotaur"), "cycle-1")
    again = environment("class BEnv: ...", "The maze of the minotaur")

    assert len(known.pool(again, "cycle-1", MemorySettings(), slots=8).cluster) == 6
    assert known.pool(again, "cycle-2", MemorySettings(), slots=8).cluster == ()


def test_another_process_knows_what_is_stored(memory: VectorMemory, tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    chain(catalog)
    (stored,) = catalog.environments()

    known = Known.load(memory, catalog)

    assert list(known.structures.values()) == [stored.env_id]
    assert list(known.cycles) == [stored.env_id]
    assert [mark.env_id for mark in catalog.read(CODE_MARKS)] == [stored.env_id]
    assert Known.load(memory, catalog).structures == known.structures, "from the marks this time"
    assert len(catalog.read(CODE_MARKS)) == 1
    assert len(known.window()) == 1
    assert known.window()[0].shape == (512,)


async def test_the_window_forgets_the_oldest(memory: VectorMemory, tmp_path: Path) -> None:
    known = Known(memory, Catalog(tmp_path))
    for number in range(WINDOW + 3):
        await known.add(environment(f"class A{number}Env: ...", f"Game {number}"), "cycle-1")
    assert len(known.window()) == WINDOW
