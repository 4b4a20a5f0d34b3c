"""Run an experiment: every profile on every seed under one budget; killed anywhere, the same call goes on."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from data.experiments import home_of, used_so_far, write_experiment
from flows.configuring import load_settings
from flows.observing import WATCHER
from flows.prefect_server import flush_prefect, prefect_server
from flows.preflight import writable
from flows.running import log_to_file
from flows.watching import ProgressWatcher
from spade.errors import Abort
from spade.experiments import Experiment, Used, refuse_unequal

FOLDER = "experiments"
Starting = Callable[..., Awaitable[Any]]


def run_experiment(experiment: Experiment, home: Path, console: Console, **model: str | None) -> Path:
    """Finish what is not finished, and write the page after each run; its path. Raises `Abort` before anything runs
    when a profile is unknown or the budgets would be unequal."""
    settings = {profile: load_settings(profile) for profile in experiment.profiles}
    refuse_unequal(experiment, settings)
    if any(each.store.url for each in settings.values()):
        raise Abort("An experiment keeps each run in a home of its own.", "Leave store.url out of its profiles.")
    folder = home / FOLDER / experiment.name
    writable(folder)
    with prefect_server(home):
        return asyncio.run(_run_all(experiment, folder, console, model))


async def _run_all(experiment: Experiment, folder: Path, console: Console, model: dict[str, str | None]) -> Path:
    log_to_file(folder / "run.log")
    for number, (profile, seed) in enumerate(experiment.runs, 1):
        console.print(f"Run {number} of {len(experiment.runs)}: {profile}, seed {seed}", highlight=False)
        watcher = ProgressWatcher(console, plain=not console.is_terminal)
        with watcher.showing():
            WATCHER.set(watcher)
            try:
                await _finish(experiment, folder, profile, seed, model)
            finally:
                flush_prefect()
                page = write_experiment(folder, experiment, ledger(experiment, folder))
    return page


def ledger(experiment: Experiment, folder: Path) -> list[Used]:
    """What each run has used, from what it stored."""
    return [_used(experiment, folder, profile, seed) for profile, seed in experiment.runs]


def _used(experiment: Experiment, folder: Path, profile: str, seed: int) -> Used:
    used = used_so_far(home_of(folder, profile, seed), profile, seed)
    done = used.spent(experiment.limit)
    return used_so_far(home_of(folder, profile, seed), profile, seed, done=done, stopped="" if done else "under way")


async def _finish(experiment: Experiment, folder: Path, profile: str, seed: int, model: dict[str, str | None]) -> None:
    """One run up to its budget, however many sittings it takes."""
    used = _used(experiment, folder, profile, seed)
    if used.done:
        return
    place = home_of(folder, profile, seed)
    left = used.left(experiment.limit)
    given: dict[str, Any] = {"profile": profile, "seed": seed, "home": str(place), "slots": experiment.slots}
    given |= {"plays": experiment.plays, "cycles": math.ceil(left["cycles"]) if "cycles" in left else None}
    if experiment.flow == "self-play":
        from flows.self_play import self_play

        await self_play(**{**given, "cycles": given["cycles"] or 1})
        return
    from flows.generate import generate

    budget = {name: left.get(name) for name in ("minutes", "episodes", "tokens")}
    counts = {name: math.ceil(value) if value and name != "minutes" else value for name, value in budget.items()}
    parameters: dict[str, Any] = {**given, **counts, **model}
    await generate(**parameters)
