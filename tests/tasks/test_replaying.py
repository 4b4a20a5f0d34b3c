"""Which environments are played again, and which tasks leave: those that the stored ratings call worth it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.catalog import Catalog
from data.export import Plan, export
from data.rating import matches_of, rate_cycle, standing
from flows.configuring import flags_of, load_settings
from flows.opening import Parts
from flows.replaying import plan_replays
from spade.curriculum import Curriculum, curriculum
from spade.errors import Abort
from spade.ratings import ZONE
from spade.slots import Cycle
from tests.data.records import chain
from tests.report.worlds import WEIGHTS, World

HASH = "0f1e2d3c4b5a"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = Catalog(tmp_path)
    world = World(catalog, plays=16)
    for number in range(2):
        cycle = world.cycle(number, slots=8)
        rate_cycle(catalog, cycle.cycle_id, matches_of(catalog.episodes(cycle_id=cycle.cycle_id)))
    return catalog


def parts(catalog: Catalog, **flags: Any) -> Parts:
    given = {"cycle__slots": 8, "training__replay__in_band": 0.5, "training__replay__mastered": 0.25} | flags
    absent: Any = None
    settings = load_settings("default", flags_of(**given))
    return Parts(settings, catalog, absent, absent, absent, absent, absent, absent, absent)


def test_a_cycle_replays_what_the_agent_may_win_and_a_share_of_harder_ones(catalog: Catalog) -> None:
    found = plan_replays(parts(catalog), Cycle(HASH, 0, 2))

    ratings = standing(catalog).ratings
    predicted = [ratings.predicted(WEIGHTS, e.env_id) for e in found.environments]
    assert sum(ZONE[0] <= chance <= ZONE[1] for chance in predicted) >= 3
    assert sum(chance < ZONE[0] for chance in predicted) <= 1
    assert found.parts.settings.cycle.slots == 8 - len(found.environments)
    assert found == plan_replays(parts(catalog), Cycle(HASH, 0, 2)), "a run that goes on plans the same"


def test_without_a_floor_nothing_hopeless_is_played_again(catalog: Catalog) -> None:
    found = plan_replays(parts(catalog, training__replay__hard=0.0), Cycle(HASH, 0, 2))
    ratings = standing(catalog).ratings
    assert all(ratings.predicted(WEIGHTS, e.env_id) >= ZONE[0] for e in found.environments)


def test_tasks_of_some_environments_are_those_in_the_zone(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    chain(catalog)
    cycle_id = catalog.cycles()[0].cycle_id
    matches = matches_of(catalog.episodes())
    ratings = rate_cycle(catalog, cycle_id, matches)
    found = curriculum(matches, ratings, catalog.environments(), vendi=None, vendi_of=0)
    assert found != Curriculum()
    summaries = catalog.summaries()
    catalog.append("summaries", [replace(s, curriculum=found) for s in summaries])

    everything, drawn = (export(catalog, tmp_path, Plan("grpo", "a", environments=n)) for n in (None, 1))

    assert everything is not None
    assert drawn is not None
    assert drawn.dataset.rows == everything.dataset.rows, "there is one environment"
    with pytest.raises(Abort, match="no tasks"):
        export(catalog, tmp_path, Plan("sft", "a", environments=1))
