"""Which remembered environments a cycle of self-play plays again beside its new ones (`training.replay`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from random import Random

from data.rating import standing
from flows.opening import Parts
from spade.environments import Environment
from spade.hints import Hint
from spade.identity import rng_for, seed_for
from spade.ratings import ZONE, draw_in_zone
from spade.replay import Known, replayed
from spade.slots import Cycle, Slot
from tasks.factory import Factory

FIRST_INDEX = 10_000
"""Replayed environments have slot numbers from here, so that they are told apart in run names."""


@dataclass(frozen=True, slots=True)
class Replays:
    """The environments of a cycle that are played again, and the parts with as many slots fewer."""

    parts: Parts
    environments: tuple[Environment, ...] = ()


def plan_replays(parts: Parts, cycle: Cycle) -> Replays:
    """A function of what earlier cycles stored, so a run that goes on plans the same again."""
    share, slots = parts.settings.training.replay, parts.settings.cycle.slots
    band, mastered = round(slots * share.in_band), round(slots * share.mastered)
    if not band + mastered:
        return Replays(parts)
    rows = parts.catalog.query(
        """select s.env_id, arg_max(s.plain.win_rate, c.number) as win_rate, max(c.number) as number
        from scores as s join cycles as c using (cycle_id)
        where c.settings_hash = ? and c.seed = ? and c.number < ? and s.plain.win_rate is not null
        group by s.env_id order by s.env_id""",
        [cycle.settings_hash, cycle.seed, cycle.number],
    )
    known = [Known(r["env_id"], r["win_rate"], r["number"]) for r in rows]
    rng = rng_for(cycle.seed, "replay", cycle.number)
    taught = _in_zone(parts, cycle, known, band, rng) if share.draw == "rating" else ()
    rest = [k for k in known if k.env_id not in taught]
    by_rate = 0 if share.draw == "rating" else band
    chosen = taught + replayed(rest, in_band=by_rate, mastered=mastered, now=cycle.number, rng=rng)
    found = {e.env_id: e for e in parts.catalog.environments(env_id=list(chosen))}
    fewer = parts.settings.cycle.model_copy(update={"slots": max(1, slots - len(chosen))})
    settings = parts.settings.model_copy(update={"cycle": fewer})
    return Replays(replace(parts, settings=settings), tuple(found[env_id] for env_id in chosen))


def _in_zone(parts: Parts, cycle: Cycle, known: Sequence[Known], count: int, rng: Random) -> tuple[str, ...]:
    """Where the agent that played last is expected to win sometimes, and a share of what is harder than that."""
    rows = parts.catalog.query(
        """select arg_max(e.weights, e.round) as agent from episodes as e join cycles as c using (cycle_id)
        where c.settings_hash = ? and c.seed = ? and c.number = ? and e.arm = 'plain'""",
        [cycle.settings_hash, cycle.seed, cycle.number - 1],
    )
    ratings, agent = standing(parts.catalog).ratings, rows[0]["agent"] or ""
    predicted = {k.env_id: ratings.predicted(agent, k.env_id) for k in known}
    share = parts.settings.training.replay.hard
    inside = sum(ZONE[0] <= chance <= ZONE[1] for chance in predicted.values())
    most = min(count, inside + ceil(count * share))  # rather a new environment than one that is mastered or hopeless
    return draw_in_zone(list(predicted), predicted, most, rng, hard_share=share)


async def replayed_slots(factory: Factory, replays: Replays) -> list[tuple[Slot, Environment, Hint | None]]:
    """Each as an environment of the cycle, in a slot that is not stored: nothing was designed for it."""
    cycle = factory.progress.cycle
    made: list[tuple[Slot, Environment, Hint | None]] = []
    for number, environment in enumerate(replays.environments):
        await factory.progress.keep_environment(environment)
        seed = seed_for(cycle.seed, cycle.cycle_id, "replay", number)
        slot = Slot(cycle.cycle_id, FIRST_INDEX + number, environment.setting, environment.skill, "", seed)
        made.append((slot, environment, None))
    return made
