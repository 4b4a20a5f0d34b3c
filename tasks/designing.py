"""Design as a Prefect task: one slot, one try and up to five retries, each told what the last one did wrong."""

import asyncio
from dataclasses import replace
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.context import TaskRunContext

from spade.attempts import Attempt
from spade.designing import Brief, Draft, Rejection, rejection_of
from spade.diversity import pool_verdicts, structural_hash
from spade.environments import Environment
from spade.feedback import exhausted, refusal, worth_telling
from spade.gates import RULES_VERSION, Judgement, examine
from spade.identity import content_id
from spade.lessons import Lessons
from spade.messages import Request, Role
from spade.recall import lessons_for
from spade.slots import Slot
from spade.verdicts import Verdict, first_failure
from tasks.answering import answer
from tasks.factory import Factory, label
from tasks.naming import named
from tasks.retrying import Rejected, rejected_or_transient
from tasks.reviewing import review

RETRIES = 5
"""The default of `designer.retries`; a slot that fails six attempts is dropped and counted."""


async def design(factory: Factory, slot: Slot) -> Attempt | None:
    """The slot's accepted attempt, or None when every attempt was refused."""
    run = named(design_environment, f"design {label(slot)}", retries=factory.settings.designer.retries)
    try:
        attempt = await run(factory, slot)
    except Rejected:
        factory.watcher.saw("dropped", slot.slot_id, why=exhausted(factory.progress.attempts(slot.slot_id)))
        return None
    factory.watcher.saw("designed", attempt.env_id)
    return attempt


@task(retries=RETRIES, retry_condition_fn=rejected_or_transient, retry_delay_seconds=0, cache_policy=NO_CACHE)
async def design_environment(factory: Factory, slot: Slot) -> Attempt:
    """Make the next attempt of a slot. What an earlier process stored is never made again."""
    attempts = factory.progress.attempts(slot.slot_id)
    done = next((a for a in attempts if a.accepted), None)
    if done is not None:
        return done
    if len(attempts) > factory.settings.designer.retries:
        raise Rejected(attempts[-1].rejected_by, f"all {len(attempts)} attempts of this slot were refused")
    attempt, environment = await _attempt(factory, slot, attempts)
    if attempt.accepted and environment is not None:
        await factory.known.add(environment, slot.cycle_id)
        await factory.progress.keep_environment(environment)
    await factory.progress.keep_attempt(attempt)
    if attempt.rejected_by:
        factory.watcher.saw("refused", slot.slot_id, gate=attempt.rejected_by)
        failed = refusal(attempt)
        raise Rejected(attempt.rejected_by, failed.message if failed else "")
    return attempt


async def _attempt(factory: Factory, slot: Slot, earlier: list[Attempt]) -> tuple[Attempt, Environment | None]:
    settings, designer, number = factory.settings, factory.designer, len(earlier)
    lessons = await _lessons(factory, slot)
    refused = [] if settings.designer.retry == "resample" else [a.completion.text for a in earlier]
    brief = Brief(slot, factory.document(slot), lessons, _rejection(factory, slot, earlier), refused)
    prompt = designer.prompt(brief)
    await factory.progress.keep_prompt(prompt)
    sampling = settings.designer.sampling.record(seed=(slot.seed + number) % 2**31)
    request = Request(prompt.messages, sampling, Role.DESIGNER, guide=designer.guide(brief))
    completion, unanswered = await answer(factory.model, request, "form.answered")
    draft = designer.read(completion.text, slot)
    verdicts = unanswered or await _verdicts(factory, slot, draft)
    failed = first_failure(verdicts)
    return (
        Attempt(
            slot_id=slot.slot_id,
            number=number,
            prompt_id=prompt.prompt_id,
            completion=completion,
            sampling=sampling,
            env_id=draft.environment.env_id if draft.environment else "",
            repairs=draft.repairs,
            verdicts=verdicts,
            rejected_by=failed.gate if failed else "",
            examples=tuple(example.environment.env_id for example in lessons.examples),
        ),
        draft.environment,
    )


async def _verdicts(factory: Factory, slot: Slot, draft: Draft) -> tuple[Verdict, ...]:
    if draft.environment is None:
        return (draft.problem,) if draft.problem else ()
    judged = (await judgement(factory, slot, draft.environment)).verdicts
    if first_failure(judged) is None and factory.settings.designer.mode in ("code", "blueprint"):
        judged += _pool(factory, slot, draft.environment)
    if factory.settings.judge.enabled and first_failure(judged) is None:
        judged += (await review(factory, slot, draft.environment),)
    return judged


async def judgement(factory: Factory, slot: Slot, environment: Environment) -> Judgement:
    """What the gates say of a program: as this run knows it, else from Prefect's cache when equal rules judged it."""
    if environment.env_id not in factory.judged:
        run = named(judge_program, f"judge {label(slot)}")
        factory.judged[environment.env_id] = await run(factory, environment)
    return factory.judged[environment.env_id]


def _by_program(_: TaskRunContext, inputs: dict[str, Any]) -> str:
    factory, environment = inputs["factory"], inputs["environment"]
    asked = [factory.settings.gates.model_dump(), factory.settings.sandbox.model_dump()]
    return content_id("judge", RULES_VERSION, environment.env_id, environment.setting, asked)


@task(cache_key_fn=_by_program, persist_result=True)
async def judge_program(factory: Factory, environment: Environment) -> Judgement:
    """The gates' verdicts on one program; equal programs under equal rules are judged once."""
    return await examine(environment.code, environment.setting, factory.sandbox, factory.limits, factory.settings.gates)


def _pool(factory: Factory, slot: Slot, environment: Environment) -> tuple[Verdict, ...]:
    settings = factory.settings
    pool = factory.known.pool(environment, slot.cycle_id, settings.memory, settings.cycle.slots)
    templated = settings.designer.mode == "blueprint"
    return pool_verdicts(environment.env_id, structural_hash(environment.code), replace(pool, templated=templated))


async def _lessons(factory: Factory, slot: Slot) -> Lessons:
    if not factory.settings.memory.lessons:
        return Lessons()
    return await asyncio.to_thread(lessons_for, factory.memory, slot, factory.settings.memory)


def _rejection(factory: Factory, slot: Slot, earlier: list[Attempt]) -> Rejection | None:
    if factory.settings.designer.retry == "resample" or not worth_telling(earlier):
        return None
    last = earlier[-1]
    return rejection_of(last, factory.designer.read(last.completion.text, slot))
