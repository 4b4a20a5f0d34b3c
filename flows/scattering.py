"""The slots of a cycle on other machines: a Dask or Ray cluster, by setting. Each slot's chain is one remote task.

What runs remotely opens parts of its own and writes to the same home, which all machines must see under the same path;
the catalog and the memory take writers from many processes. Plans, budgets, curation and export stay here.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import TaskRunner

from data.progress import CycleProgress
from flows.generate import finish_slot, open_cycle, within_budget
from flows.observing import observed
from flows.opening import Parts, open_parts
from spade.errors import Abort
from spade.messages import Role, Usage
from spade.operating_settings import ExecutionSettings, MetricsSettings
from spade.settings import FactorySettings
from spade.slots import Cycle, Slot
from tasks.advancing import Advance, advancing
from tasks.factory import Factory

SLOTS_A_WORKER = 4
"""Slots under way at once in one process of a cluster that is started here."""


async def scattered(parts: Parts, factory: Factory) -> list[bool]:
    """Have every slot's chain run on the cluster; which slots are finished. The factory knows afterwards what came of
    it. Raises `Abort` when the cluster cannot be used."""
    settings, progress = factory.settings, factory.progress
    if settings.model.base_url is None and not settings.execution.endpoints:
        raise Abort("A cluster needs a model that all machines reach.", "Set model.base_url, or execution.endpoints.")
    bar = Advance(f"Slots of cycle {progress.cycle.number}", f"cycle-{progress.cycle.number:04d}-progress")
    with ThreadPoolExecutor(len(progress.slots)) as threads, open_runner(settings.execution) as runner:
        away = partial(_away, runner, threads)
        finished = await advancing(
            bar, [within_budget(factory, slot, away, partial(_stored_plays, factory, slot)) for slot in progress.slots]
        )
    factory.progress = CycleProgress.load(parts.catalog, progress.cycle, progress.slots)
    return finished


@contextmanager
def open_runner(execution: ExecutionSettings) -> "Iterator[TaskRunner[Any]]":
    """Prefect's runner of the kind that is set. Raises `Abort` when its package is missing or nothing answers."""
    try:
        made = _dask(execution) if execution.kind == "dask" else _ray(execution)
    except ImportError as error:
        remedy = f"Install the extra: pip install 'spade-factory[{execution.kind}]'."
        raise Abort(f"A {execution.kind} cluster needs the package prefect-{execution.kind}.", remedy) from error
    try:
        runner = made.__enter__()
    except (OSError, TimeoutError) as error:
        raise Abort(
            f"No {execution.kind} cluster answers at {execution.address}: {error}", "Start it first."
        ) from error
    try:
        yield runner
    finally:
        made.__exit__(None, None, None)


def _dask(execution: ExecutionSettings) -> "TaskRunner[Any]":
    from prefect_dask import DaskTaskRunner  # type: ignore[import-not-found,unused-ignore]

    if execution.address:
        found: TaskRunner[Any] = DaskTaskRunner(address=execution.address)
        return found
    sizes = {"n_workers": execution.workers, "threads_per_worker": SLOTS_A_WORKER, "dashboard_address": None}
    local: TaskRunner[Any] = DaskTaskRunner(cluster_kwargs=sizes)
    return local


def _ray(execution: ExecutionSettings) -> "TaskRunner[Any]":
    from prefect_ray import RayTaskRunner  # type: ignore[import-not-found,unused-ignore]

    sizes = {} if execution.address else {"num_cpus": execution.workers, "include_dashboard": False}
    runner: TaskRunner[Any] = RayTaskRunner(address=execution.address, init_kwargs=sizes)
    return runner


async def _away(runner: "TaskRunner[Any]", threads: ThreadPoolExecutor, factory: Factory, slot: Slot) -> None:
    cycle, settings = factory.progress.cycle, sent(factory.settings, slot)
    run = chain_elsewhere.with_options(task_run_name=f"slot {slot.index:02d}-{slot.skill}")
    future = runner.submit(run, {"settings": settings, "cycle": cycle, "slot": slot})
    used: dict[Role, Usage] = await asyncio.get_running_loop().run_in_executor(threads, future.result)
    for role, usage in used.items():
        factory.budget.ledger.account(role).usage += usage
    factory.watcher.saw("scored", slot.slot_id)


def sent(settings: FactorySettings, slot: Slot) -> FactorySettings:
    """The settings for one slot elsewhere: without the key, which each machine has in its environment, at its endpoint,
    and without budgets and metrics, which are kept here."""
    endpoints = settings.execution.endpoints
    at = {"base_url": endpoints[slot.index % len(endpoints)]} if endpoints else {}
    model = settings.model.model_copy(update={"api_key": None, **at})
    return settings.model_copy(update={"model": model, "metrics": MetricsSettings(), "home": settings.home.absolute()})


@task(cache_policy=NO_CACHE, persist_result=False)
def chain_elsewhere(settings: FactorySettings, cycle: Cycle, slot: Slot) -> dict[Role, Usage]:
    """One slot's chain with parts of its own; what its calls used, by role."""
    return asyncio.run(_chain(settings, cycle, slot))


async def _chain(settings: FactorySettings, cycle: Cycle, slot: Slot) -> dict[Role, Usage]:
    async with observed(settings), open_parts(settings) as parts:
        await finish_slot(open_cycle(parts, cycle), slot)
        return {role: account.usage for role, account in parts.budget.ledger.accounts.items()}


def _stored_plays(factory: Factory, slot: Slot) -> int:
    progress = factory.progress
    return CycleProgress.load(progress.catalog, progress.cycle, progress.slots).stored_plays(slot.slot_id)
