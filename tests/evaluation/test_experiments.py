"""Grids of profiles and seeds: refused when unequal, killed and gone on with, and one page over what came of them."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.experiments import home_of, used_so_far, write_experiment
from flows.configuring import load_settings
from spade.errors import Abort
from spade.experiments import (
    Experiment,
    Limit,
    Used,
    differences,
    means,
    read_experiment,
    refuse_unequal,
    unequal,
)
from tests.data.records import chain
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import ROOT, FactoryEndpoint, until_chats

FILE = """
name = "memory"
profiles = ["default", "default+no-memory"]
seeds = [0, 1]
slots = 2
plays = 2

[budget]
cycles = 1
"""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("seeds = [0, 1]", "seeds = [1, 1]"), "names a profile or a seed twice"),
        (("cycles = 1", ""), "sets no budget"),
        (("cycles = 1", "rounds = 1"), "unknown key 'rounds'"),
        (("slots = 2", "slot = 2"), "unknown key 'slot'"),
        (('name = "memory"', ""), "lacks a name"),
        (("plays = 2", "plays = "), "not valid TOML"),
        (("plays = 2", 'flow = "train"'), "no flow 'train'"),
    ],
)
def test_a_wrong_file_is_one_sentence(change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(Abort, match=sentence):
        read_experiment(FILE.replace(*change), "grid.toml")


def test_runs_go_seed_by_seed() -> None:
    """An early end leaves pairs."""
    made = read_experiment(FILE, "grid.toml")
    assert made.runs == (("default", 0), ("default+no-memory", 0), ("default", 1), ("default+no-memory", 1))


def test_unequal_budgets_are_refused() -> None:
    """Cycles of different size are no equal budget; slots and plays for all of them, or episodes, are."""
    settings = {name: load_settings(name) for name in ("default", "starter")}
    grid = Experiment("sizes", ("default", "starter"), (0,), Limit(cycles=1))
    with pytest.raises(Abort, match="unequal budgets: plays in a cycle are default 768, starter 96"):
        refuse_unequal(grid, settings)
    refuse_unequal(Experiment("sizes", grid.profiles, (0,), Limit(cycles=1), slots=2, plays=2), settings)
    refuse_unequal(Experiment("sizes", grid.profiles, (0,), Limit(episodes=96)), settings)


def test_differences_are_paired_by_seed() -> None:
    grid = Experiment("pairs", ("a", "b"), (0, 1, 2), Limit(cycles=1))
    found = {
        ("a", 0): {"win rate": 0.2}, ("b", 0): {"win rate": 0.5},
        ("a", 1): {"win rate": 0.4}, ("b", 1): {"win rate": 0.5},
        ("a", 2): {"win rate": 0.9}, ("b", 2): {"win rate": None},
    }  # fmt: skip
    (difference,) = differences(grid, found)
    assert (difference.mean, difference.pairs) == (pytest.approx(0.2), 2)
    assert difference.interval is not None
    assert (difference.interval.low, difference.interval.high) == (pytest.approx(0.1), pytest.approx(0.3))
    assert means("b", found)["win rate"] == (0.5, 2)


def test_what_is_left_counts_what_was_used() -> None:
    used = Used("a", 0, cycles=1, episodes=30, tokens=500, seconds=60.0)
    assert used.left(Limit(cycles=2, episodes=100, minutes=1.5)) == {"cycles": 1, "episodes": 70, "minutes": 0.5}
    assert not used.spent(Limit(cycles=2, episodes=100))
    assert used.spent(Limit(tokens=500))


def test_a_page_names_unequal_and_unfinished_runs(tmp_path: Path) -> None:
    grid = Experiment("uneven", ("a", "b"), (0,), Limit(episodes=10))
    for profile, plays in (("a", 3), ("b", 6)):
        catalog = Catalog(home_of(tmp_path, profile, 0))
        chain(catalog, plays=plays)
        catalog.close()
    ledger = [used_so_far(home_of(tmp_path, p, 0), p, 0, done=p == "a") for p in grid.profiles]
    assert [u.episodes for u in ledger] == [6, 12]
    assert unequal(grid, ledger)[:2] == ["b, seed 0, is not finished.", "Unequal episodes: a 6, b 12."]
    page = write_experiment(tmp_path, grid, ledger).read_text("utf-8")
    assert "Unequal episodes: a 6, b 12." in page
    assert "Brackets over 1 seeds are hardly more than the range" in page
    many = Experiment("uneven", ("a", "b"), tuple(range(5)), Limit(episodes=10))
    assert not any("Brackets" in note for note in unequal(many, ledger))
    assert "not measured" in page
    assert len(json.loads((tmp_path / "ledger.json").read_text())) == 2


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_two_profiles_on_two_seeds_are_killed_and_go_on(tmp_path: Path) -> None:
    """After a kill -9 the same command finishes the grid: equal budgets, no episode lost or made twice, one page."""
    (tmp_path / "grid.toml").write_text(FILE)
    async with FakeEndpoint(FactoryEndpoint(pause=0.02)) as fake:
        first = await started(tmp_path, fake.base_url)
        await until_chats(fake, 25, first)
        os.killpg(first.pid, signal.SIGKILL)
        await first.wait()
        second = await started(tmp_path, fake.base_url)
        said, _ = await second.communicate()
        assert second.returncode == 0, said.decode()
        calls = len(fake.chats)
        third = await started(tmp_path, fake.base_url)
        await third.communicate()
        assert len(fake.chats) == calls
    folder = tmp_path / "var" / "experiments" / "memory"
    ledger = json.loads((folder / "ledger.json").read_text())
    assert [(u["profile"], u["seed"], u["cycles"], u["done"]) for u in ledger] == [
        ("default", 0, 1, True), ("default+no-memory", 0, 1, True),
        ("default", 1, 1, True), ("default+no-memory", 1, 1, True),
    ]  # fmt: skip
    page = (folder / "index.html").read_text("utf-8")
    assert "Paired differences" in page
    assert "There is no pair of runs yet" not in page


async def started(place: Path, base_url: str) -> asyncio.subprocess.Process:
    longer = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180", "SPADE_MEMORY__DUPLICATE_CODE": "1.0"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flows.cli", "experiment", "run", "grid.toml", "--base-url", base_url),
        cwd=place,
        env={**kept, **longer, "PYTHONPATH": str(ROOT), "SPADE_GATES__RANDOM_WIN_MAX": "0.3"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
