"""Self-play: design a cycle; k times play a round, update, swap weights; update the designer; again."""

import time
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from flows.configuring import flags_of, load_settings
from flows.generate import arm_plans, close_cycle, next_cycle, open_cycle
from flows.observing import WATCHER, observed
from flows.opening import Parts, open_parts
from flows.replaying import FIRST_INDEX, plan_replays, replayed_slots
from flows.schooling import need_torch, only_trainer, open_engine, open_school
from flows.train import finished_of
from spade.auditing import hinted_environments
from spade.environments import Environment
from spade.hints import Hint
from spade.settings import FactorySettings
from spade.slots import Cycle, Slot
from spade.summary import CycleSummary
from tasks.designing import design
from tasks.factory import Factory
from tasks.hinting import hint
from tasks.learning import School, batch_for, learn, warm_start
from tasks.playing import play_arm
from tasks.scoring import score_and_remember
from tasks.showing import show_environment
from tasks.together import together
from tasks.tracing import about
from training.batches import Batch

if TYPE_CHECKING:
    from inference.in_process.engine import TorchEngine

PROBED = 4
"""Samples by which each swap of weights is checked."""


def _run_name() -> str:
    given = flow_run.parameters
    return f"self-play {given.get('profile')} x{given.get('cycles')}"


@flow(name="self-play", flow_run_name=_run_name)
async def self_play(  # noqa: PLR0913 - a deployment's form has one field a parameter
    profile: str = "starter",
    cycles: Annotated[int, Field(ge=1)] = 1,
    rounds: Annotated[int | None, Field(ge=1)] = None,
    slots: Annotated[int | None, Field(ge=1)] = None,
    plays: Annotated[int | None, Field(ge=1)] = None,
    base: str | None = None,
    seed: int | None = None,
    home: str | None = None,
) -> list[dict[str, Any]]:
    """Design, play and learn in turns with one set of weights. A run that was killed is finished first.

    Args:
        profile: Settings profile, such as starter.
        cycles: How many cycles to finish in this run.
        rounds: Rounds per cycle; an update follows each.
        slots: Environments to design per cycle.
        plays: Plays per arm and environment.
        base: Weights to start from: path:FOLDER or package:NAME.
        seed: Seed of every random draw; the profile's when empty.
        home: Folder of run artifacts; var when empty.
    """
    need_torch()
    flags = flags_of(
        seed=seed, home=home, cycle__rounds=rounds, cycle__slots=slots, cycle__plays=plays, training__base=base
    )
    settings = for_self_play(load_settings(profile, flags))
    summaries: list[CycleSummary] = []
    async with AsyncExitStack() as stack:
        from data.catalog import Catalog

        looking = await stack.enter_async_context(observed(settings))
        stack.enter_context(only_trainer(settings.home))
        school = open_school(settings, Catalog(settings.home, settings.store), WATCHER.get())
        await warm_start(school)
        engine = open_engine(school)
        parts = await stack.enter_async_context(open_parts(settings, model=engine))
        looking.watch(parts.budget)
        await looking.searchable(f"model:{engine.name}", f"profile:{settings.profile}")
        for _ in range(cycles):
            summaries.append(await learn_cycle(parts, school, engine, next_cycle(parts)))
    return [asdict(summary) for summary in summaries]


def for_self_play(settings: FactorySettings) -> FactorySettings:
    """The settings with draws that can be learned from, and cycles of their own beside those of `generate`."""
    plain = {"top_p": 1.0, "top_k": 0}
    agent = settings.agent.model_copy(update={"sampling": settings.agent.sampling.model_copy(update=plain)})
    designer = settings.designer.model_copy(update={"sampling": settings.designer.sampling.model_copy(update=plain)})
    model = settings.model.model_copy(update={"source": f"in-process:{settings.training.base}"})
    return settings.model_copy(update={"agent": agent, "designer": designer, "model": model})


async def learn_cycle(parts: Parts, school: School, engine: "TorchEngine", cycle: Cycle) -> CycleSummary:
    """Make what is missing of one cycle, updates included, then close it with its summary."""
    started = time.monotonic()
    replays = plan_replays(parts, cycle)
    factory = open_cycle(replays.parts, cycle)
    slots = factory.progress.slots
    settings = parts.settings.cycle
    factory.watcher.saw("cycle", cycle.cycle_id, number=cycle.number, slots=len(slots), plays=settings.plays)
    made = [m for m in await together(*(_designed(factory, slot) for slot in slots)) if m is not None]
    hinted = _audited(parts, cycle, made)
    made += await replayed_slots(factory, replays)
    waiting: Batch | None = None
    for round_ in range(settings.rounds):
        await _played(factory, made, hinted, round_, school, waiting)
        if waiting is not None:  # not earlier: an episode is played by one version of the weights
            swap(school, engine, waiting.samples[:PROBED])
        waiting, finished, last = None, None, round_ == settings.rounds - 1
        if last:
            await _scored(factory, made)
            finished = finished_of(factory.progress)
        if (cycle.cycle_id, round_) not in school.trained:
            batch = batch_for(school, cycle.cycle_id, round_, factory.progress.all_episodes(), finished)
            if parts.settings.training.overlap and not last:
                waiting = batch
            else:
                await learn(school, batch)
                swap(school, engine, batch.samples[:PROBED])
    return await close_cycle(factory, started)


async def _played(
    factory: Factory,
    made: list[tuple[Slot, Environment, Hint | None]],
    hinted: frozenset[str],
    round_: int,
    school: School,
    waiting: Batch | None,
) -> None:
    """A round is played; where a batch waits, the update on it is made meanwhile."""
    playing = _play_round(factory, made, hinted, round_)
    if waiting is None:
        await playing
    else:
        await together(playing, learn(school, waiting))


async def _scored(factory: Factory, made: list[tuple[Slot, Environment, Hint | None]]) -> None:
    for slot, environment, written in made:
        await score_and_remember(factory, slot, environment, written)
        if slot.index < FIRST_INDEX:
            await show_environment(factory.progress, environment.env_id)


def swap(school: School, engine: "TorchEngine", samples: Any) -> None:
    """Give the engine the trained weights and check by a probe that it serves them."""
    from training.averaging import served_state
    from training.probing import probe

    engine.swap({part: served_state(school.learner, part) for part in school.learner.policy.parts}, school.weights)
    gap = probe(school.learner, engine.score, samples)
    school.watcher.saw("swapped", school.weights, gap=gap)


async def _designed(factory: Factory, slot: Slot) -> tuple[Slot, Environment, Hint | None] | None:
    with about(slot=slot.slot_id):
        attempt = await design(factory, slot)
        if attempt is None:
            return None
        environment = factory.progress.environment(attempt.env_id)
        with about(environment=environment.env_id):
            return slot, environment, await hint(factory, slot, attempt, environment)


def _audited(parts: Parts, cycle: Cycle, made: list[tuple[Slot, Environment, Hint | None]]) -> frozenset[str]:
    training = parts.settings.training
    rows = parts.catalog.query(
        """select s.regret from scores as s join cycles as c using (cycle_id)
        where c.settings_hash = ? and c.seed = ? and c.number = ? and s.regret is not null""",
        [cycle.settings_hash, cycle.seed, cycle.number - 1],
    )
    return hinted_environments(
        [environment.env_id for _, environment, _ in made],
        threshold=training.hint_threshold,
        share=training.hint_audit,
        regrets=[row["regret"] for row in rows],
        seed=parts.settings.seed,
        cycle=cycle.number,
    )


async def _play_round(
    factory: Factory, made: list[tuple[Slot, Environment, Hint | None]], hinted: frozenset[str], round_: int
) -> None:
    plans = [
        plan
        for slot, environment, written in made
        for plan in arm_plans(slot, environment, written if environment.env_id in hinted else None, round_)
    ]
    await together(*(play_arm(factory, plan) for plan in plans))
