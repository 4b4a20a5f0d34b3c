"""Score and remember one environment, as one Prefect task: cheap rules after expensive plays."""

import asyncio

from prefect import task
from prefect.cache_policies import NO_CACHE

from spade.environments import Environment
from spade.hints import Hint
from spade.scores import Score, score
from spade.slots import Slot
from tasks.factory import Factory, label
from tasks.naming import named


async def score_and_remember(factory: Factory, slot: Slot, environment: Environment, hint: Hint | None) -> Score:
    """The stored score of one environment in this cycle."""
    plays = factory.progress.episodes(environment.env_id)
    run = named(score_environment, f"score {label(slot, environment.env_id)}", after=plays)
    scored = await run(factory, environment, hint)
    factory.watcher.saw("scored", environment.env_id)
    return scored


@task(cache_policy=NO_CACHE)
async def score_environment(factory: Factory, environment: Environment, hint: Hint | None) -> Score:
    """Score from all stored episodes, then put the environment into the memory for later cycles."""
    stored = factory.progress.score(environment.env_id)
    if stored is not None:
        return stored
    variant = factory.settings.score.variant
    scored = score(
        factory.progress.cycle.cycle_id, environment.env_id, factory.progress.episodes(environment.env_id), variant
    )
    await asyncio.to_thread(factory.memory.remember, environment, hint, scored)
    await factory.progress.keep_score(scored)
    return scored
