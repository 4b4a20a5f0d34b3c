"""Play as a Prefect task: one arm of one environment. Thousands of plays share the loop; none is a task of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from prefect import task
from prefect.cache_policies import NO_CACHE

from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Hinted, ModelPolicy, Policy, play
from spade.hints import Hint
from spade.identity import seed_for
from spade.outcomes import CallOutcome, EpisodeOutcome
from spade.prompting import agent_system
from spade.settings import FactorySettings
from spade.slots import Slot
from spade.stopping import enough, waves
from tasks.advancing import Advance
from tasks.factory import Factory, label
from tasks.naming import named
from tasks.tracing import about

TRIES = 3
"""A play whose sandbox or endpoint failed is tried again this often in all, then stored as it ended."""
STORE_SECONDS = 1.0
"""Finished episodes wait at most this long before they are on disk."""


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm of one environment, as it is to be played."""

    slot: Slot
    environment: Environment
    arm: Arm
    round: int
    hint: Hint | None = None


def asked_plays(plan: ArmPlan, settings: FactorySettings) -> list[Asked]:
    """The plays of one arm. Both arms ask for the same seeds: they depend on environment, round and play alone."""
    return [
        Asked(
            cycle_id=plan.slot.cycle_id,
            env_id=plan.environment.env_id,
            round=plan.round,
            arm=plan.arm,
            play=number,
            seed=seed_for(settings.seed, plan.environment.env_id, plan.round, number),
            hint_id=plan.hint.hint_id if plan.hint else "",
        )
        for number in range(settings.cycle.plays)
    ]


async def play_arm(factory: Factory, plan: ArmPlan) -> int:
    """Play what is not stored yet; returns how many episodes this arm has now."""
    slot_id, env_id = plan.slot.slot_id, plan.environment.env_id
    made_by = [plan.hint] if plan.hint else [a for a in factory.progress.attempts(slot_id) if a.accepted]
    run = named(play_episodes, f"play {label(plan.slot, env_id)} {plan.arm} r{plan.round}", after=made_by)
    with about(slot=slot_id, environment=env_id):
        return len(await run(factory, plan))


@task(cache_policy=NO_CACHE)
async def play_episodes(factory: Factory, plan: ArmPlan) -> list[Episode]:
    """All plays of one arm, concurrently; finished ones are stored while others still run.

    With `cycle.stopping` in waves, after each of which the arm may be known well enough: a function of what is stored,
    so that a run that was killed ends where it would have.
    """
    asked = asked_plays(plan, factory.settings)
    stopping = factory.settings.cycle.stopping
    rule = stopping.record() if stopping else None
    ended = _ended(factory, asked)
    factory.watcher.saw("resumed", plan.environment.env_id, plays=len(ended))
    count, advance = 0, Advance(f"Plays of {label(plan.slot)}, {plan.arm}, round {plan.round}")
    for wave in waves(asked, rule):
        missing = [a for a in wave if a.episode_id not in ended]
        count += len(wave)
        await _play_wave(factory, plan, missing, partial(_show_left, advance, count, len(asked)))
        ended = _ended(factory, asked)
        if rule and count < len(asked) and enough([ended[a.episode_id].won for a in asked[:count]], rule):
            factory.watcher.saw("settled", plan.environment.env_id, left=len(asked) - count)
            break
    await advance.end()
    return [ended[each.episode_id] for each in asked[:count]]


def _ended(factory: Factory, asked: Sequence[Asked]) -> dict[str, Episode]:
    """Those of the plays that are stored, by episode id."""
    wanted = {a.episode_id for a in asked}
    found = factory.progress.episodes(asked[0].env_id) if asked else []
    return {e.episode_id: e for e in found if e.episode_id in wanted}


async def _show_left(advance: Advance, count: int, total: int, left: int) -> None:
    await advance.at(count - left, total)


async def _play_wave(
    factory: Factory, plan: ArmPlan, missing: Sequence[Asked], tell: Callable[[int], Awaitable[None]]
) -> None:
    """`tell` is told how many plays are left."""
    running = set[asyncio.Task[Episode]]()
    for each in missing:
        with about(episode=each.episode_id):
            running.add(asyncio.create_task(_play_one(factory, plan, each)))
    try:
        while running:
            done, running = await asyncio.wait(running, timeout=STORE_SECONDS)
            await _store(factory, [finished.result() for finished in done])
            await tell(len(running))
    finally:
        await _cancel(running)


async def _store(factory: Factory, episodes: Sequence[Episode]) -> None:
    if not episodes:
        return
    await factory.progress.keep_episodes(episodes)
    for episode in episodes:
        asked, ended = episode.asked, {"outcome": episode.outcome.value, "won": episode.won, "detail": episode.detail}
        factory.watcher.saw("episode", asked.env_id, episode=episode.episode_id, arm=asked.arm.value, **ended)


async def _cancel(running: set[asyncio.Task[Episode]]) -> None:
    for waiting in running:
        waiting.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _policy(factory: Factory, plan: ArmPlan, asked: Asked) -> Policy:
    agent = factory.settings.agent
    guide = plan.environment.guide if agent.guided else None
    sampling = agent.sampling.record(seed=seed_for(asked.seed, "sampling", asked.play))
    policy = ModelPolicy(factory.model, sampling, guide)
    return policy if plan.hint is None else Hinted(policy, plan.hint.text)


async def _play_one(factory: Factory, plan: ArmPlan, asked: Asked) -> Episode:
    policy = _policy(factory, plan, asked)
    async with factory.plays:
        for _ in range(TRIES - 1):
            episode = await _try(factory, plan, policy, asked)
            if not episode.outcome.worth_retrying:
                return _stamped(episode, factory)
        return _stamped(await _try(factory, plan, policy, asked), factory)


def _stamped(episode: Episode, factory: Factory) -> Episode:
    return replace(episode, isolation=factory.sandbox.level.name.lower())


async def _try(factory: Factory, plan: ArmPlan, policy: Policy, asked: Asked) -> Episode:
    opened = await factory.sandbox.open(plan.environment.code, factory.limits)
    if opened.game is None:
        lost = opened.reply.outcome is CallOutcome.OK
        outcome = EpisodeOutcome.SANDBOX_LOST if lost else EpisodeOutcome(opened.reply.outcome.value)
        return Episode(
            asked, outcome, (), factory.model.name, factory.model.weights, detail=f"open: {opened.reply.detail}"
        )
    try:
        setting, most = plan.environment.setting, factory.settings.cycle.max_turns
        return await play(opened.game, policy, asked, agent_system(setting), max_turns=most, setting=setting)
    finally:
        await opened.game.close()
