"""`spade audit`: tasks of one's own, and whether a model can learn from them."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.data_cli import AsJson, Home, print_json, print_rows

if TYPE_CHECKING:
    from spade.hint_gap import Gap
    from spade.scores import Interval


def audit(  # noqa: PLR0913 - one parameter a flag
    file: Annotated[Path, typer.Argument(help="JSONL: prompt, answer or checker, and hint if there is one.")],
    plays: Annotated[int, typer.Option(min=1, help="Plays per arm and task.")] = 8,
    profile: Annotated[str | None, typer.Option(help="Settings profile.", show_default="starter")] = None,
    model: Annotated[
        str | None, typer.Option(help="Name at the endpoint, or package:NAME, path:FILE, hub:REPO.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random draw.", show_default="0")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Play your own tasks with and without a hint, and say which are mastered, at the frontier, or hopeless.

    A checker is Python that defines `check(answer)`; it runs in the sandbox. Hints that are not given are written by
    the model and refused when they say the answer. Intervals are 95 %.
    """
    from flows.auditing import audited, tasks_in, write_audit
    from flows.configuring import load_settings, run_flags
    from flows.preflight import writable

    place = str(home) if home else None
    flags = run_flags(seed=seed, slots=None, plays=plays, model=model, base_url=base_url, home=place)
    settings = load_settings(profile, flags)
    writable(settings.home)
    tasks, broken = tasks_in(file)
    for number, why in broken:
        typer.echo(f"line {number} left out: {why}", err=True)
    done: list[Gap] = []

    def saw(gap: "Gap") -> None:
        done.append(gap)
        typer.echo(f"{len(done)} of {len(tasks)} tasks: {gap.place}", err=True)

    gaps = asyncio.run(audited(settings, tasks, saw))
    page = write_audit(settings.home, gaps, settings.model.name or settings.model.source, plays)
    if as_json:
        print_json([{"task_id": gap.task.task_id, **asdict(gap)} for gap in gaps])
        return
    print_rows([row_of(gap) for gap in gaps])
    print(f"{len(gaps)} tasks, {len(broken)} lines left out. The page: {page}")


def row_of(gap: "Gap") -> dict[str, str]:
    """A task as a line of the table; what was not measured is a dash."""
    regret = gap.score.regret
    return {
        "task": " ".join(gap.task.prompt.split())[:48],
        "place": gap.place.value + ("" if gap.sure else " ?"),
        "plain": _rate(gap.score.plain.wins, gap.score.plain.measured, gap.plain),
        "hinted": _rate(gap.score.hinted.wins, gap.score.hinted.measured, gap.hinted),
        "regret": "–" if regret is None else f"{regret:+.2f}",
    }


def _rate(wins: int, measured: int, interval: "Interval | None") -> str:
    return "–" if interval is None else f"{wins}/{measured} [{interval.low:.2f}, {interval.high:.2f}]"
