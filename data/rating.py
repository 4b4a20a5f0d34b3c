"""Ratings as the catalog holds them: those after each cycle, from which the next one goes on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from data.catalog import Catalog
from data.tables import RATINGS
from spade.episodes import Arm, Episode
from spade.ratings import Match, Rating, Ratings, Side, StoredRating, rated


@dataclass(frozen=True, slots=True)
class Standing:
    """The latest rating of everybody, and how many cycles have been rated."""

    ratings: Ratings
    sequence: int = 0


def matches_of(episodes: Iterable[Episode]) -> list[Match]:
    """The measured plain plays, in the order of rounds and plays."""
    plain = [e for e in episodes if e.asked.arm is Arm.PLAIN and e.won is not None]
    plain.sort(key=lambda e: (e.asked.round, e.asked.play, e.asked.env_id))
    return [Match(e.weights, e.asked.env_id, bool(e.won)) for e in plain]


def standing(catalog: Catalog) -> Standing:
    """Of everybody who ever played."""
    rows = catalog.query(
        """select side, subject_id, mean, spread, plays, sequence from ratings
        qualify row_number() over (partition by side, subject_id order by sequence desc, cycle_id) = 1"""
    )
    found: dict[str, dict[str, Rating]] = {side: {} for side in Side}
    for row in rows:
        found[row["side"]][row["subject_id"]] = Rating(row["mean"], row["spread"], row["plays"])
    last = max((row["sequence"] for row in rows), default=0)
    return Standing(Ratings(found[Side.AGENT], found[Side.ENVIRONMENT]), last)


def rate_cycle(catalog: Catalog, cycle_id: str, matches: Sequence[Match]) -> Ratings:
    """The ratings after a cycle's matches, stored once: a cycle that was rated before a kill is not rated again."""
    before = standing(catalog)
    if not matches or catalog.read(RATINGS, cycle_id=cycle_id):
        return before.ratings
    after = rated(matches, before.ratings)
    moved = {
        Side.AGENT: {m.agent: after.agents[m.agent] for m in matches},
        Side.ENVIRONMENT: {m.env_id: after.environments[m.env_id] for m in matches},
    }
    catalog.append(
        "ratings",
        [
            StoredRating(cycle_id, side, subject, rating.mean, rating.spread, rating.plays, before.sequence + 1)
            for side, subjects in moved.items()
            for subject, rating in subjects.items()
        ],
    )
    return after
