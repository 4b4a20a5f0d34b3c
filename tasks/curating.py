"""Decide over a finished cycle's episodes: replay what was won, keep what is fit to train on, say why not the rest."""

import asyncio
from collections import defaultdict

from prefect import task
from prefect.cache_policies import NO_CACHE

from data.evidence import gathered
from spade.curation import Decision, Pool, decide
from spade.episodes import Arm, Episode
from spade.replaying import replayed
from tasks.factory import Factory
from tasks.together import together

REPLAYS_AT_ONCE = 16


@task(cache_policy=NO_CACHE, task_run_name="curate")
async def curate(factory: Factory) -> list[Decision]:
    """One stored decision an episode and pool. The order of plays, not of arrival, settles which duplicate stays."""
    episodes = factory.progress.all_episodes()
    catalog, settings = factory.progress.catalog, factory.settings.curation
    # Before all that reads: a question to dozens of small files costs several times one to their merged ones.
    tidying = asyncio.to_thread(catalog.tidy)
    won = [e for e in episodes if e.won and e.asked.arm is Arm.PLAIN]
    same, _ = await asyncio.gather(_replayed(factory, won), tidying)
    evidence = gathered(catalog, factory.progress.cycle.cycle_id, episodes, settings, same)
    decisions = list(decide(episodes, evidence, settings.rules()))
    await factory.progress.keep_decisions(decisions)
    kept = sum(d.kept for d in decisions if d.pool is Pool.POSITIVE)
    factory.watcher.saw("curated", factory.progress.cycle.cycle_id, kept=kept)
    return decisions


async def _replayed(factory: Factory, episodes: list[Episode]) -> frozenset[str]:
    """The ids of those that replay; many environments at once."""
    gate = asyncio.Semaphore(REPLAYS_AT_ONCE)
    by_environment: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        by_environment[episode.asked.env_id].append(episode)

    async def check(env_id: str) -> frozenset[str]:
        async with gate:
            code = factory.progress.environment(env_id).code
            return await replayed(by_environment[env_id], code, factory.sandbox, factory.limits)

    return frozenset[str]().union(*await together(*(check(env_id) for env_id in by_environment)))
