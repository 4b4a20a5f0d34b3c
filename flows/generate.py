"""The loop: plan slots; for each of them design, hint, play, score; then curate and export. Reads like the diagram."""

import asyncio
import time
from contextvars import ContextVar
from dataclasses import asdict
from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from data.progress import CycleProgress
from flows.configuring import load_settings, run_flags
from flows.opening import Parts, open_parts
from spade.environments import Environment
from spade.episodes import Arm
from spade.hints import Hint
from spade.slots import Cycle, Slot, plan_slots
from spade.summary import CycleSummary, summarise
from tasks.curating import curate
from tasks.designing import design
from tasks.exporting import export_positives, write_pages
from tasks.factory import Factory, Nobody, Watcher
from tasks.hinting import hint
from tasks.playing import ArmPlan, play_arm
from tasks.scoring import score_and_remember
from tasks.showing import show_cycle, show_environment
from tasks.together import together

WATCHER: ContextVar[Watcher] = ContextVar("WATCHER", default=Nobody())  # noqa: B039 - it holds no state
"""Who looks on; the command line puts its display here. A flow takes values only, so it cannot be a parameter."""


def _run_name() -> str:
    given = flow_run.parameters
    return f"generate {given.get('profile')} seed {given.get('seed') or 0} x{given.get('cycles')}"


@flow(name="generate", flow_run_name=_run_name)
async def generate(  # noqa: PLR0913 - a deployment's form has one field a parameter
    profile: Annotated[str, Field(description="Settings profile, such as starter.")] = "starter",
    cycles: Annotated[int, Field(ge=1, description="How many cycles to finish in this run.")] = 1,
    seed: Annotated[int | None, Field(description="Seed of every random draw; the profile's when empty.")] = None,
    slots: Annotated[int | None, Field(ge=1, description="Environments to design per cycle.")] = None,
    plays: Annotated[int | None, Field(ge=1, description="Plays per arm and environment.")] = None,
    model: Annotated[str | None, Field(description="The model's name at the endpoint, or a weights source.")] = None,
    base_url: Annotated[str | None, Field(description="OpenAI-compatible endpoint; embedded model when empty.")] = None,
    home: Annotated[str | None, Field(description="Folder of run artifacts; var when empty.")] = None,
) -> list[dict[str, Any]]:
    """Design environments, play them in both arms, score, curate and export: cycle after cycle.

    A cycle that an earlier run left unfinished is finished first. Returns the summaries of the finished cycles.
    """
    flags = run_flags(seed=seed, slots=slots, plays=plays, model=model, base_url=base_url, home=home)
    settings = load_settings(profile, flags)
    summaries: list[CycleSummary] = []
    async with open_parts(settings) as parts:
        for _ in range(cycles):
            summaries.append(await finish_cycle(parts, next_cycle(parts)))
    return [asdict(summary) for summary in summaries]


def next_cycle(parts: Parts) -> Cycle:
    """The first cycle of these settings and seed that has no summary: an unfinished one, or a new one."""
    settings = parts.settings
    finished = {s.cycle_id for s in parts.catalog.summaries()}
    number = 0
    while (cycle := Cycle(settings.settings_hash, settings.seed, number)).cycle_id in finished:
        number += 1
    return cycle


async def finish_cycle(parts: Parts, cycle: Cycle) -> CycleSummary:
    """Make what is missing of one cycle, then close it with its summary."""
    started = time.monotonic()
    factory = open_cycle(parts, cycle)
    slots = factory.progress.slots
    factory.watcher.saw(
        "cycle", cycle.cycle_id, number=cycle.number, slots=len(slots), plays=parts.settings.cycle.plays
    )
    await together(*(finish_slot(factory, slot) for slot in slots))
    await curate(factory)
    dataset = await export_positives(factory)
    summary = summarise(
        factory.progress.records(),
        rows=dataset.rows if dataset else 0,
        dataset_id=dataset.dataset_id if dataset else "",
        seconds=time.monotonic() - started,
    )
    factory.progress.keep_summary(summary)
    await show_cycle(factory.progress, summary)
    await write_pages(factory)
    factory.watcher.saw("finished", cycle.cycle_id, summary=summary)
    return summary


def open_cycle(parts: Parts, cycle: Cycle) -> Factory:
    """Plan the cycle, store the plan, and read what is there already."""
    settings = parts.settings
    documents = parts.corpus.draw(settings.seed, cycle.number, settings.cycle.slots)
    by_id = {document.document_id: document for document in documents}
    slots = plan_slots(cycle, settings.cycle.setting, [d.document_id for d in documents], skills=settings.cycle.skills)
    parts.catalog.append("cycles", [cycle])
    parts.catalog.append("documents", documents)
    parts.catalog.append("slots", slots)
    return Factory(
        settings=settings,
        progress=CycleProgress.load(parts.catalog, cycle, slots),
        memory=parts.memory,
        sandbox=parts.sandbox,
        model=parts.model,
        designer=parts.designer,
        documents=by_id,
        structures=parts.structures,
        watcher=WATCHER.get(),
        plays=asyncio.Semaphore(settings.model.concurrency),
    )


async def finish_slot(factory: Factory, slot: Slot) -> None:
    """One environment's own chain; it waits for no other slot."""
    attempt = await design(factory, slot)
    if attempt is None:
        return
    environment = factory.progress.environment(attempt.env_id)
    written = await hint(factory, slot, attempt, environment)
    for round_ in range(factory.settings.cycle.rounds):
        await together(*(play_arm(factory, plan) for plan in arm_plans(slot, environment, written, round_)))
    await score_and_remember(factory, slot, environment, written)
    await show_environment(factory.progress, environment.env_id)


def arm_plans(slot: Slot, environment: Environment, written: Hint | None, round_: int) -> list[ArmPlan]:
    """The arms of one round: plain always, hinted in the first round when there is a hint."""
    plain = ArmPlan(slot, environment, Arm.PLAIN, round_)
    if written is None or round_ > 0:
        return [plain]
    return [plain, ArmPlan(slot, environment, Arm.HINTED, round_, written)]
