"""The judge as a Prefect task: one question about a program that has passed every other gate."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from spade.environments import Environment
from spade.errors import Retry, Skip
from spade.messages import Request, Role
from spade.prompting import judge_prompt
from spade.reviewing import read_review, unasked
from spade.slots import Slot
from spade.verdicts import Verdict
from tasks.factory import Factory, label
from tasks.naming import named


async def review(factory: Factory, slot: Slot, environment: Environment) -> Verdict:
    return await named(review_program, f"review {label(slot)}")(factory, slot, environment)


@task(cache_policy=NO_CACHE)
async def review_program(factory: Factory, slot: Slot, environment: Environment) -> Verdict:
    """The judge's verdict; never raises for what the endpoint did, since a judge that fails does not accept."""
    prompt = judge_prompt(environment, factory.document(slot))
    await factory.progress.keep_prompt(prompt)
    sampling = factory.settings.judge.sampling.record(seed=slot.seed)
    try:
        completion = await factory.model.complete(Request(prompt.messages, sampling, Role.JUDGE))
    except (Retry, Skip) as error:
        return unasked(error)
    return read_review(completion.text)
