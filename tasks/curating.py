"""Decide over a finished cycle's episodes: replay what was won, keep what is fit to train on, say why not the rest."""

import asyncio

from prefect import task
from prefect.cache_policies import NO_CACHE

from data.evidence import gathered
from spade.curation import Decision, Pool, decide
from spade.episodes import Arm, Episode
from spade.replaying import replays
from tasks.factory import Factory
from tasks.together import together

REPLAYS_AT_ONCE = 16


@task(cache_policy=NO_CACHE, task_run_name="curate")
async def curate(factory: Factory) -> list[Decision]:
    """One stored decision an episode and pool. The order of plays, not of arrival, settles which duplicate stays."""
    episodes = factory.progress.all_episodes()
    replayed = await _replayed(factory, [e for e in episodes if e.won and e.asked.arm is Arm.PLAIN])
    settings = factory.settings.curation
    evidence = gathered(factory.progress.catalog, factory.progress.cycle.cycle_id, episodes, settings, replayed)
    decisions = list(decide(episodes, evidence, settings.rules()))
    await factory.progress.keep_decisions(decisions)
    kept = sum(d.kept for d in decisions if d.pool is Pool.POSITIVE)
    factory.watcher.saw("curated", factory.progress.cycle.cycle_id, kept=kept)
    return decisions


async def _replayed(factory: Factory, episodes: list[Episode]) -> frozenset[str]:
    gate = asyncio.Semaphore(REPLAYS_AT_ONCE)

    async def check(episode: Episode) -> str:
        async with gate:
            code = factory.progress.environment(episode.asked.env_id).code
            same = await replays(episode, code, factory.sandbox, factory.limits)
        return episode.episode_id if same else ""

    return frozenset(await together(*(check(e) for e in episodes))) - {""}
