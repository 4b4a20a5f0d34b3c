"""What is wrong in a pool is named, counted, left out, and never exported silently."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.catalog import Catalog
from data.evidence import gathered
from data.export import Blocked, Plan, export, export_sft
from data.kinds.registry import KINDS
from spade.curation import Decision, Pool, Rules, decide
from spade.curation_settings import CurationSettings
from spade.episodes import Episode
from spade.errors import Abort
from spade.messages import Tokens
from tests.data.records import chain

ROOT = Path(__file__).parents[2]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """One chain whose decisions are still to be made over what a test adds."""
    catalog = Catalog(tmp_path / "home")
    chain(catalog)
    return catalog


def like_a_win(catalog: Catalog, play: int, **changes: Any) -> Episode:
    """Another play of the chain, with its own words."""
    won = next(e for e in catalog.episodes(arm="plain") if e.won)
    first = replace(won.turns[0], observation=f"{won.turns[0].observation} Again, {play}.")
    episode = replace(won, asked=replace(won.asked, play=play), turns=(first, *won.turns[1:]))
    return replace(episode, **changes)


def decided(catalog: Catalog, added: list[Episode]) -> dict[int, Decision]:
    """Store plays and decide over all of the cycle, as a run does; the positive decisions of the added, by play."""
    catalog.append("episodes", added)
    (cycle,) = catalog.cycles()
    everything = catalog.episodes(cycle_id=cycle.cycle_id)
    replayed = frozenset(e.episode_id for e in everything)
    evidence = gathered(catalog, cycle.cycle_id, everything, CurationSettings(), replayed)
    decisions = list(decide(everything, evidence))
    catalog.append("decisions", decisions)
    plays = {e.episode_id: e.asked.play for e in added}
    return {plays[d.episode_id]: d for d in decisions if d.pool is Pool.POSITIVE and d.episode_id in plays}


def exported_ids(catalog: Catalog, place: Path) -> set[str]:
    made = export_sft(catalog, place, name="pool")
    assert made is not None
    return {json.loads(line)["episode_id"] for line in (made.folder / "train.jsonl").open(encoding="utf-8")}


def test_rewards_that_are_no_numbers_are_left_out(catalog: Catalog, tmp_path: Path) -> None:
    nan = like_a_win(catalog, 50, return_=float("nan"))
    turn = like_a_win(catalog, 51)
    infinite = replace(turn, turns=(replace(turn.turns[0], reward=float("inf")), *turn.turns[1:]))
    decisions = decided(catalog, [nan, infinite])
    assert {d.reason for d in decisions.values()} == {"not stored as it was"}
    assert not {nan.episode_id, infinite.episode_id} & exported_ids(catalog, tmp_path)
    counted = catalog.query(
        "select count(*) as n from decisions where pool = 'positive' and reason = 'not stored as it was'"
    )
    assert counted == [{"n": 2}]
    named = catalog.query("select blemishes from episodes where blemishes is not null order by play")
    assert named[0]["blemishes"] == ["return_: nan"]
    assert named[1]["blemishes"] == ["turns[0].reward: inf"]


def test_halves_of_surrogate_pairs_are_left_out(catalog: Catalog, tmp_path: Path) -> None:
    odd = like_a_win(catalog, 50, system="You play \ud83d a game.")
    assert decided(catalog, [odd])[50].reason == "not stored as it was"
    assert odd.episode_id not in exported_ids(catalog, tmp_path)


@pytest.mark.parametrize("pool", [Pool.POSITIVE, Pool.GROUP])
def test_missing_tokens_keep_a_play_out_of_groups_alone(catalog: Catalog, pool: Pool) -> None:
    """Text is enough for supervised rows; reinforcement needs every token and log-probability."""
    whole = like_a_win(catalog, 50)
    turns = tuple(replace(t, tokens=None) for t in whole.turns)
    other = like_a_win(catalog, 51)
    short = replace(other.turns[0], tokens=Tokens((1, 2), (1, 2), None))
    decided(catalog, [replace(whole, turns=turns), replace(other, turns=(short, *other.turns[1:]))])
    found = {
        row["play"]: (row["kept"], row["reason"])
        for row in catalog.query(
            "select play, kept, reason from decisions join episodes using (episode_id) where play >= 50 and pool = ?",
            [pool.value],
        )
    }
    missing = (False, "tokens or log-probabilities are missing")
    assert found == (dict.fromkeys((50, 51), missing) if pool is Pool.GROUP else {50: (True, ""), 51: (True, "")})


def test_a_log_probability_too_few_blocks_and_names_the_row(catalog: Catalog, tmp_path: Path) -> None:
    whole = like_a_win(catalog, 50)
    uneven = replace(whole.turns[0], tokens=Tokens((1, 2, 3), (1, 2, 3), (-0.5,)))
    decided(catalog, [replace(whole, turns=(uneven, *whole.turns[1:]))])
    with pytest.raises(Blocked, match="token_mismatches") as blocked:
        export_sft(catalog, tmp_path, name="uneven")
    (failed,) = blocked.value.validation.failed
    assert failed.failures == len(failed.rows) == 1
    assert failed.rows[0] in blocked.value.page.read_text("utf-8")
    assert failed.rows[0] in str(blocked.value)


def test_of_two_plays_with_one_id_the_first_counts(catalog: Catalog, tmp_path: Path) -> None:
    first = like_a_win(catalog, 50)
    other = replace(first, return_=0.5, won=False, final_observation="Something else.")
    catalog.append("episodes", [first, other])
    decided(catalog, [first])
    assert [e.won for e in catalog.episodes(episode_id=first.episode_id)] == [True]
    assert first.episode_id in exported_ids(catalog, tmp_path)
    rows = catalog.dataset_rows()
    assert len({r.row_id for r in rows}) == len({r.episode_id for r in rows}) == len(rows)


def test_equal_plays_under_two_ids_are_one_row(catalog: Catalog, tmp_path: Path) -> None:
    one = like_a_win(catalog, 50)
    twin = replace(one, asked=replace(one.asked, play=51))
    decisions = decided(catalog, [one, twin])
    assert (decisions[50].kept, decisions[51].reason) == (True, "duplicate transcript")
    assert len(exported_ids(catalog, tmp_path) & {one.episode_id, twin.episode_id}) == 1


@pytest.mark.parametrize("harm", ["cut", "junk", "empty"])
def test_a_file_of_episodes_that_is_broken_is_named_and_nothing_is_exported(
    catalog: Catalog, tmp_path: Path, harm: str
) -> None:
    """Without its episodes nobody can tell what a dataset would lack, so there is none."""
    (path,) = (catalog.folder / "episodes").glob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "junk": b"PAR1" + b"x" * 500, "empty": b""}[harm])
    fresh = Catalog(tmp_path / "home")
    with pytest.raises(Abort, match=path.name):
        export_sft(fresh, tmp_path, name="broken")
    assert not (tmp_path / "datasets").exists()


@pytest.mark.parametrize("kind", ["sft", "kto", "dpo"])
def test_a_failed_expectation_names_its_rows_in_every_place(catalog: Catalog, tmp_path: Path, kind: str) -> None:
    """In the error, on both pages, and nowhere is there a folder under the final name."""
    lost = next(e for e in catalog.episodes(arm="plain") if e.won is False)
    pale = like_a_win(catalog, 60)
    silent = replace(pale, turns=(replace(pale.turns[0], observation=" "), *pale.turns[1:]))
    twin = replace(lost, asked=replace(lost.asked, play=61), turns=(replace(silent.turns[0], reply="no"),))
    catalog.append("episodes", [silent, twin])
    rules = Rules().name
    kept = [Decision(silent.episode_id, Pool.POSITIVE, True, rules=rules)]
    catalog.append("decisions", [*kept, Decision(twin.episode_id, Pool.HARD_NEGATIVE, True, rules=rules)])
    with pytest.raises(Blocked, match="empty_messages") as blocked:
        export(catalog, tmp_path, Plan(kind, "pale"))
    failed = next(c for c in blocked.value.validation.failed if c.expects.startswith("empty_messages"))
    assert failed.rows
    for page in (blocked.value.page, blocked.value.page.with_suffix(".md")):
        text = page.read_text("utf-8").replace("\\", "")
        assert all(row in text for row in failed.rows)
    assert [p.name for p in (tmp_path / "datasets").iterdir()] == ["blocked"]


FULL = """
import sys
from pathlib import Path
from data.catalog import Catalog
from data.export import Plan, export
from spade.errors import Abort
home, place = Path(sys.argv[1]), Path(sys.argv[2])
catalog = Catalog(home)
for kind in sys.argv[3:]:
    try:
        export(catalog, place, Plan(kind, "full"))
    except Abort as error:
        print("full" if "full" in str(error) or "space" in str(error) else error)
    else:
        print("written")
    left = [str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()]
    assert not left, left
    assert not catalog.datasets() and not catalog.dataset_rows()
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
def test_a_full_disk_leaves_nothing_under_the_final_name(catalog: Catalog, tmp_path: Path) -> None:
    """A real file system of a few kilobytes, mounted in a namespace of its own."""
    decided(catalog, [like_a_win(catalog, play) for play in range(50, 80)])
    place = tmp_path / "small"
    place.mkdir()
    inside = 'mount -t tmpfs -o size=24k none "$1" && shift && exec "$@"'
    kinds = [kind for kind in KINDS if kind in ("sft", "prompt-completion", "grpo", "openenv", "pool")]
    said = subprocess.run(
        [
            "unshare",
            "-rm",
            "sh",
            "-c",
            inside,
            "sh",
            place,
            sys.executable,
            "-c",
            FULL,
            tmp_path / "home",
            place,
            *kinds,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if "mount" in said.stderr or "unshare" in said.stderr:
        pytest.skip(f"no file system can be mounted here: {said.stderr.strip()}")
    assert said.returncode == 0, said.stderr[-2000:]
    assert Counter(said.stdout.split()) == {"full": len(kinds)}
