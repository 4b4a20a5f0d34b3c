"""Ratings go on from cycle to cycle, and a cycle counts once."""

from pathlib import Path

import pytest

from data.catalog import Catalog
from data.rating import matches_of, rate_cycle, standing
from spade.episodes import Arm, Asked, Episode
from spade.outcomes import EpisodeOutcome
from spade.ratings import Match, rated

FIRST = [Match("a", "e", True), Match("a", "f", False)]
SECOND = [Match("b", "e", True), Match("b", "f", True)]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path)


def test_cycles_in_turn_give_what_all_their_plays_give(catalog: Catalog) -> None:
    rate_cycle(catalog, "cycle-0", FIRST)
    after = rate_cycle(catalog, "cycle-1", SECOND)

    assert after == rated([*FIRST, *SECOND])
    assert standing(catalog).ratings == after
    assert standing(catalog).sequence == 2


def test_a_cycle_is_rated_once(catalog: Catalog) -> None:
    """Killed after its ratings were stored and before its summary was: closing it again moves nothing."""
    first = rate_cycle(catalog, "cycle-0", FIRST)
    assert rate_cycle(catalog, "cycle-0", FIRST) == first
    assert standing(catalog).ratings.agents["a"].plays == 2


def test_nothing_played_is_nothing_rated(catalog: Catalog) -> None:
    assert rate_cycle(catalog, "cycle-0", []).agents == {}
    assert standing(catalog).sequence == 0


def test_only_measured_plain_plays_are_matches() -> None:
    def episode(arm: Arm, play: int, won: bool | None) -> Episode:
        ended = EpisodeOutcome.COMPLETED if won is not None else EpisodeOutcome.MODEL_ERROR
        return Episode(Asked("cycle-0", "e", 0, arm, play, play), ended, (), "m", "w", won=won)

    found = [episode(Arm.PLAIN, 1, True), episode(Arm.PLAIN, 0, False), episode(Arm.HINTED, 0, True)]
    assert matches_of([*found, episode(Arm.PLAIN, 2, None)]) == [Match("w", "e", False), Match("w", "e", True)]
