"""Hints as a Prefect task: three tries; an environment without a hint goes on without a hinted arm."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from spade.attempts import Attempt
from spade.environments import Environment
from spade.gates import Judgement
from spade.hints import Hint
from spade.leaks import judge_hint
from spade.messages import Request, Role
from spade.slots import Slot
from spade.verdicts import Status, Verdict, first_failure
from tasks.answering import answer
from tasks.designing import judgement
from tasks.factory import Factory, label
from tasks.naming import named
from tasks.retrying import Rejected, rejected_or_transient


async def hint(factory: Factory, slot: Slot, attempt: Attempt, environment: Environment) -> Hint | None:
    """The environment's accepted hint, or None when every try leaked or came out empty."""
    name, tries = f"hint {label(slot, environment.env_id)}", factory.settings.hint.tries
    run = named(write_hint, name, retries=tries - 1, after=[attempt])
    try:
        written = await run(factory, slot, attempt, environment)
    except Rejected:
        factory.watcher.saw("unhinted", environment.env_id)
        return None
    factory.watcher.saw("hinted", environment.env_id)
    return written


@task(retries=2, retry_condition_fn=rejected_or_transient, retry_delay_seconds=0, cache_policy=NO_CACHE)
async def write_hint(factory: Factory, slot: Slot, attempt: Attempt, environment: Environment) -> Hint:
    """Write the next hint of an environment. What an earlier process stored is never made again."""
    tried = factory.progress.hints(environment.env_id)
    done = next((h for h in tried if h.accepted), None)
    if done is not None:
        return done
    if len(tried) >= factory.settings.hint.tries:
        raise Rejected(tried[-1].rejected_by, f"all {len(tried)} hints were refused")
    judged = await judgement(factory, slot, environment)
    written = await _write(factory, attempt, environment, judged)
    await factory.progress.keep_hint(written)
    if written.rejected_by:
        failed = next(v for v in written.verdicts if v.gate == written.rejected_by)
        raise Rejected(written.rejected_by, failed.message)
    return written


async def _write(factory: Factory, attempt: Attempt, environment: Environment, judged: Judgement) -> Hint:
    settings, designer = factory.settings.hint, factory.designer
    tried = factory.progress.hints(environment.env_id)
    number = len(tried)
    design = attempt.completion.text
    prompt = designer.hint_prompt(environment, design, _refusal(tried))
    await factory.progress.keep_prompt(prompt)
    sampling = settings.sampling.record(seed=number)
    guide = designer.hint_guide(environment, design)
    request = Request(prompt.messages, sampling, Role.HINT, guide=guide)
    completion, unanswered = await answer(factory.model, request, "hint.answered")
    text = designer.read_hint(completion.text)
    verdicts = unanswered or judge_hint(
        text, environment.code, judged.solutions, judged.observations, max_words=settings.max_words
    )
    failed = first_failure(verdicts)
    rejected_by = failed.gate if failed else ""
    return Hint(environment.env_id, number, text, prompt.prompt_id, completion, verdicts, rejected_by)


def _refusal(tried: list[Hint]) -> Verdict | None:
    """What the next try is told: only what a writer can mend."""
    refused = next((v for v in tried[-1].verdicts if v.gate == tried[-1].rejected_by), None) if tried else None
    return refused if refused is not None and refused.status is Status.FAIL else None
