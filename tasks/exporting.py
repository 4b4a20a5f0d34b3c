"""Datasets and pages as Prefect tasks: what a finished cycle leaves for people."""

import asyncio
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from data.catalog import Catalog
from data.decontamination import Overlapping
from data.export import Blocked, Export, Plan, export, export_sft
from spade.datasets import Dataset
from tasks.factory import Factory
from tasks.showing import show_dataset, show_validation


async def export_positives(factory: Factory) -> Dataset | None:
    """The cycle's dataset; None when no episode was fit to train on, or when the expectations blocked it."""
    try:
        exported = await export_sft_rows(factory)
    except (Blocked, Overlapping) as blocked:
        factory.watcher.saw("blocked", factory.progress.cycle.cycle_id, why=str(blocked))
        return None
    return exported.dataset if exported else None


@task(cache_policy=NO_CACHE, task_run_name="export sft")
async def export_sft_rows(factory: Factory) -> Export | None:
    """Write the curated positives behind their expectations; a failed expectation fails this task and nothing else."""
    cycle = factory.progress.cycle
    name = f"{factory.settings.profile}-sft-{cycle.number:04d}"
    try:
        exported = await asyncio.to_thread(
            export_sft,
            factory.progress.catalog,
            factory.settings.home,
            name=name,
            settings_hash=cycle.settings_hash,
            cycle_ids=[cycle.cycle_id],
            setting=factory.settings.cycle.setting,
        )
    except Blocked as blocked:
        await show_validation(name, blocked.validation)
        raise
    if exported is not None:
        await show_dataset(exported)
    return exported


@task(cache_policy=NO_CACHE, task_run_name="export {plan.kind} {plan.name}")
async def export_dataset(catalog: Catalog, home: Path, plan: Plan) -> Export | None:
    """Any dataset by its plan, with its card and expectations as pages; None when there is no row for it."""
    try:
        exported = await asyncio.to_thread(export, catalog, home, plan)
    except Blocked as blocked:
        await show_validation(plan.name, blocked.validation)
        raise
    if exported is not None:
        await show_dataset(exported)
    return exported


@task(cache_policy=NO_CACHE, task_run_name="report")
async def write_pages(factory: Factory) -> str:
    """The HTML pages of this cycle, and the index over all cycles so far; returns the path of the index."""
    from data.report import write_report

    catalog, home = factory.progress.catalog, factory.settings.home
    cycle_id = factory.progress.cycle.cycle_id
    return str(await asyncio.to_thread(write_report, catalog, home / "report", cycles=[cycle_id]))
