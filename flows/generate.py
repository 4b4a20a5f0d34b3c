"""The loop: plan slots; for each of them design, hint, play, score; then curate and export. Reads like the diagram."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from prefect.states import Completed
from pydantic import Field

from data.progress import CycleProgress
from flows.configuring import load_settings, run_flags, with_slice
from flows.observing import WATCHER, observed
from flows.opening import Parts, open_parts
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm
from spade.errors import Abort
from spade.hints import Hint
from spade.operating_settings import BudgetSettings
from spade.slots import Cycle, Slot, plan_slots
from spade.summary import CycleSummary, summarise
from tasks.advancing import Advance, advancing
from tasks.alarming import raise_alarms, tell_ready, where_it_stands
from tasks.budgeting import show_budget
from tasks.curating import curate
from tasks.designing import design
from tasks.exporting import export_positives, write_pages
from tasks.factory import Factory
from tasks.hinting import hint
from tasks.naming import forget_results
from tasks.playing import ArmPlan, play_arm
from tasks.relatives import show_relatives
from tasks.scoring import score_and_remember
from tasks.showing import show_cycle, show_environment
from tasks.together import together
from tasks.tracing import about

Finish = Callable[[Factory, Slot], Awaitable[None]]
"""How a slot's chain is run."""


def _run_name() -> str:
    given = flow_run.parameters
    return f"generate {given.get('profile')} seed {given.get('seed') or 0} x{given.get('cycles')}"


@flow(name="generate", flow_run_name=_run_name)
async def generate(  # noqa: PLR0913 - a deployment's form has one field a parameter
    profile: str = "starter",
    cycles: Annotated[int | None, Field(ge=1)] = 1,
    seed: int | None = None,
    slots: Annotated[int | None, Field(ge=1)] = None,
    plays: Annotated[int | None, Field(ge=1)] = None,
    model: str | None = None,
    base_url: str | None = None,
    home: str | None = None,
    minutes: Annotated[float | None, Field(gt=0)] = None,
    episodes: Annotated[int | None, Field(ge=1)] = None,
    tokens: Annotated[int | None, Field(ge=1)] = None,
    cost: Annotated[float | None, Field(gt=0)] = None,
) -> Any:
    """Design environments, play them in both arms, score, curate and export: cycle after cycle.

    A cycle that an earlier run left unfinished is finished first. Returns the summaries of the finished cycles; when a
    budget ended the run, the state's message says which.

    Args:
        profile: Settings profile, such as starter (the small embedded model) or default (an endpoint of your own).
        cycles: How many cycles to finish in this run; as many as the budget allows when empty.
        seed: Seed of every random draw; the profile's when empty.
        slots: Environments to design per cycle; the profile's when empty.
        plays: Plays per arm and environment; the profile's when empty.
        model: The model's name at the endpoint, or a weights source (package:NAME, path:FILE, hub:REPO/FILE.gguf).
        base_url: OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1; the embedded model when empty.
        home: Folder of run artifacts; var when empty.
        minutes: Budget of this run in minutes of wall clock; slots under way are finished, no further one begins.
        episodes: Budget of this run in stored episodes.
        tokens: Budget of this run in tokens, prompt and completion together.
        cost: Budget of this run in money, by model.price_per_million.
    """
    flags = run_flags(seed=seed, slots=slots, plays=plays, model=model, base_url=base_url, home=home)
    settings = load_settings(profile, with_slice(flags, minutes=minutes, episodes=episodes, tokens=tokens, cost=cost))
    if cycles is None and settings.budget == BudgetSettings():
        raise Abort("A run without a number of cycles needs a budget.", "Set cycles, or minutes, episodes or tokens.")
    async with observed(settings) as looking, open_parts(settings) as parts:
        looking.watch(parts.budget)
        await looking.searchable(f"model:{parts.model.name}", f"profile:{settings.profile}")
        found = [asdict(summary) for summary in await _finish_cycles(parts, cycles)]
        await show_budget(parts.budget)
    if parts.budget.stopped:
        why = f"Stopped at a slot border: {parts.budget.stopped}. The next run goes on from here."
        return Completed(name="Stopped", message=why, data=found)
    return found


async def _finish_cycles(parts: Parts, cycles: int | None) -> list[CycleSummary]:
    """Cycle after cycle, until there are as many as wanted or a budget ends the run."""
    summaries: list[CycleSummary] = []
    while cycles is None or len(summaries) < cycles:
        summary = await finish_cycle(parts, next_cycle(parts))
        if summary is not None:
            summaries.append(summary)
        if summary is None or parts.budget.stopped:
            break
    return summaries


def next_cycle(parts: Parts) -> Cycle:
    """The first cycle of these settings and seed that has no summary: an unfinished one, or a new one."""
    settings = parts.settings
    finished = {s.cycle_id for s in parts.catalog.summaries()}
    number = 0
    while (cycle := Cycle(settings.settings_hash, settings.seed, number)).cycle_id in finished:
        number += 1
    return cycle


async def finish_cycle(parts: Parts, cycle: Cycle) -> CycleSummary | None:
    """Make what is missing of one cycle, then close it with its summary; None when the budget ended it before."""
    started = time.monotonic()
    factory = open_cycle(parts, cycle)
    slots = factory.progress.slots
    factory.watcher.saw(
        "cycle", cycle.cycle_id, number=cycle.number, slots=len(slots), plays=parts.settings.cycle.plays
    )
    if parts.settings.execution.kind == "here":
        bar = Advance(f"Slots of cycle {cycle.number}", f"cycle-{cycle.number:04d}-progress")
        finished = await advancing(bar, [within_budget(factory, slot) for slot in slots])
    else:
        from flows.scattering import scattered

        finished = await scattered(parts, factory)
    if not all(finished):
        factory.watcher.saw("paused", cycle.cycle_id, why=factory.budget.stopped)
        return None
    summary = await close_cycle(factory, started)
    tell_ready(factory)
    return summary


async def close_cycle(factory: Factory, started: float) -> CycleSummary:
    """Curate, export, and tell what came of a cycle whose plays are all stored. `started`: when this sitting began, in
    seconds of the monotonic clock."""
    await curate(factory)
    dataset = await export_positives(factory)
    summary = summarise(
        factory.progress.records(),
        rows=dataset.rows if dataset else 0,
        dataset_id=dataset.dataset_id if dataset else "",
        seconds=time.monotonic() - started,
    )
    summary = replace(summary, curriculum=where_it_stands(factory))
    await factory.progress.keep_summary(summary)
    progress = factory.progress
    pages = [show_cycle(progress, summary), show_relatives(progress.catalog, progress.accepted()), write_pages(factory)]
    await together(*pages)
    factory.watcher.saw("finished", summary.cycle_id, summary=summary)
    raise_alarms(factory, summary)
    forget_results()
    return summary


def open_cycle(parts: Parts, cycle: Cycle) -> Factory:
    """Plan the cycle, store the plan, and read what is there already."""
    settings = parts.settings
    slots, documents = _planned(parts, cycle)
    return Factory(
        settings=settings,
        progress=CycleProgress.load(parts.catalog, cycle, slots),
        memory=parts.memory,
        sandbox=parts.sandbox,
        model=parts.model,
        designer=parts.designer,
        documents={document.document_id: document for document in documents},
        known=parts.known,
        budget=parts.budget,
        watcher=WATCHER.get(),
        plays=asyncio.Semaphore(settings.model.concurrency),
    )


def _planned(parts: Parts, cycle: Cycle) -> tuple[Sequence[Slot], Sequence[Document]]:
    """The cycle's slots and their documents: as stored, so that a corpus that grew changes nothing under way."""
    settings, catalog = parts.settings, parts.catalog
    if stored := catalog.slots(cycle_id=cycle.cycle_id):
        slots = sorted(stored, key=lambda slot: slot.index)
        return slots, catalog.documents(document_id=[slot.document_id for slot in slots])
    documents = parts.corpus.draw(settings.seed, cycle.number, settings.cycle.slots)
    planned = plan_slots(
        cycle, settings.cycle.setting, [d.document_id for d in documents], skills=settings.cycle.skills
    )
    catalog.append("cycles", [cycle])
    catalog.append("documents", documents)
    catalog.append("slots", planned)
    return planned, documents


async def within_budget(
    factory: Factory, slot: Slot, finish: Finish | None = None, stored: Callable[[], int] | None = None
) -> bool:
    """Finish a slot if it may begin, here unless told how; whether it is finished. `stored` counts its plays."""
    finish = finish or finish_slot
    settings, progress = factory.settings, factory.progress
    if progress.is_done(slot.slot_id, settings.designer.retries):
        await finish(factory, slot)
        return True
    planned = settings.cycle.plays * (settings.cycle.rounds + 1)
    stored = stored or partial(progress.stored_plays, slot.slot_id)
    async with factory.budget.slot(slot.cycle_id, planned, stored) as may_begin:
        if may_begin:
            await finish(factory, slot)
        return may_begin


async def finish_slot(factory: Factory, slot: Slot) -> None:
    """One environment's own chain; it waits for no other slot."""
    with about(slot=slot.slot_id):
        attempt = await design(factory, slot)
        if attempt is None:
            return
        environment = factory.progress.environment(attempt.env_id)
        with about(environment=environment.env_id):
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
