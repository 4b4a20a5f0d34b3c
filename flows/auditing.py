"""The hint-gap audit: hints written, both arms played, every task placed, as a table and a page."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from data.folders import placed as written_file
from data.pages import audit_html
from inference.opening import open_model
from sandbox.opening import open_sandbox
from spade.boxes import without_thoughts
from spade.episodes import Arm, Asked, Episode, Hinted, ModelPolicy, play
from spade.errors import Abort, Retry, Skip
from spade.hint_gap import Gap, GapTask, counts, environment_of, gap_of, hint_request, read_tasks, refused_hint
from spade.identity import content_id, seed_for
from spade.messages import Request, Role
from spade.outcomes import EpisodeOutcome
from spade.ports import Limits, Model, Sandbox
from spade.prompting import render
from spade.settings import FactorySettings

Progress = Callable[[Gap], None]


def tasks_in(path: Path) -> tuple[list[GapTask], list[tuple[int, str]]]:
    """The tasks of a JSONL file and what is wrong with other lines. Raises `Abort` when there is no task."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise Abort(f"{path} cannot be read: {error.strerror}.", "Give a JSONL file.") from error
    tasks, broken = read_tasks(lines)
    if not tasks:
        why = f" Line {broken[0][0]}: {broken[0][1]}" if broken else ""
        raise Abort(f"{path} holds no task.{why}", "A line has prompt, and answer or checker; hint if there is one.")
    return tasks, broken


async def audited(settings: FactorySettings, tasks: Sequence[GapTask], saw: Progress) -> list[Gap]:
    """Open sandbox and model as a run does, and audit all tasks."""
    from flows.configuring import with_key

    async with (
        open_sandbox(settings.sandbox) as sandbox,
        open_model(with_key(settings.model), settings.home) as model,
    ):
        return await audit(tasks, model, sandbox, settings, saw)


async def audit(
    tasks: Sequence[GapTask], model: Model, sandbox: Sandbox, settings: FactorySettings, saw: Progress
) -> list[Gap]:
    """One gap a task, in order; as many plays at once as the model takes calls."""
    gate = asyncio.Semaphore(settings.model.concurrency)

    async def one(task: GapTask) -> Gap:
        hint = task.hint or await _hint(task, model, settings)
        arms = [(Arm.PLAIN, ""), *([(Arm.HINTED, hint)] if hint else [])]
        plays = [_play(task, arm, said, n, model, sandbox, settings, gate) for arm, said in arms
                 for n in range(settings.cycle.plays)]  # fmt: skip
        gap = gap_of(task, hint, await asyncio.gather(*plays))
        saw(gap)
        return gap

    return list(await asyncio.gather(*(one(task) for task in tasks)))


async def _hint(task: GapTask, model: Model, settings: FactorySettings) -> str:
    """A hint that passes its gates, or nothing when every try leaked or failed."""
    rejected = None
    for number in range(settings.hint.tries):
        prompt = hint_request(task, rejected, settings.hint.max_words)
        sampling = settings.hint.sampling.record(seed=number)
        try:
            completion = await model.complete(Request(prompt.messages, sampling, Role.HINT))
        except (Retry, Skip):
            continue
        text = without_thoughts(completion.text).strip().strip('"').removeprefix("Hint:").strip()
        rejected = refused_hint(text, task, settings.hint.max_words)
        if rejected is None:
            return text
    return ""


async def _play(  # noqa: PLR0913
    task: GapTask,
    arm: Arm,
    hint: str,
    number: int,
    model: Model,
    sandbox: Sandbox,
    settings: FactorySettings,
    gate: asyncio.Semaphore,
) -> Episode:
    environment = environment_of(task)
    seed = seed_for(settings.seed, environment.env_id, 0, number)
    asked = Asked("audit", environment.env_id, 0, arm, number, seed)
    policy = ModelPolicy(model, settings.agent.sampling.record(seed=seed_for(seed, "sampling", number)))
    limits = settings.sandbox
    async with gate:
        opened = await sandbox.open(
            environment.code, Limits(limits.wall_seconds, limits.cpu_seconds, limits.memory_mb, limits.scratch_mb)
        )
        if opened.game is None:
            outcome = EpisodeOutcome.SANDBOX_LOST if opened.reply.ok else EpisodeOutcome(opened.reply.outcome.value)
            return Episode(asked, outcome, (), model.name, model.weights, detail=f"open: {opened.reply.detail}")
        try:
            told = policy if not hint else Hinted(policy, hint)
            return await play(opened.game, told, asked, render("agent_task.j2"), max_turns=1)
        finally:
            await opened.game.close()


def write_audit(home: Path, gaps: Sequence[Gap], model: str, plays: int) -> Path:
    """`audit.json` and `audit.html` in a folder named by what was asked of whom; the page's path."""
    name = content_id("audit", model, plays, [gap.task.task_id for gap in gaps])
    folder = home / "audits" / name
    facts: dict[str, Any] = {"model": model, "plays": plays, "counts": counts(gaps)}
    rows = [{"task_id": gap.task.task_id, **asdict(gap)} for gap in gaps]
    written_file(folder / "audit.json", json.dumps({**facts, "tasks": rows}, indent=2, ensure_ascii=False) + "\n")
    written_file(folder / "audit.html", audit_html(gaps=gaps, **facts))
    return folder / "audit.html"
