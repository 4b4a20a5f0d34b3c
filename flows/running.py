"""`spade run`: settings checked, a Prefect server at hand, the flow with its progress display, and what came out."""

import asyncio
import logging
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from flows.configuring import load_settings, run_flags
from flows.prefect_server import flush_prefect, prefect_server
from flows.preflight import preflight
from flows.reasons import plainly
from flows.watching import ProgressWatcher
from spade.settings import FactorySettings


def run_cycles(*, cycles: int, profile: str | None, home: Path | None, **flags: Any) -> None:
    """Finish `cycles` cycles and print what came out. Raises `Abort` before anything is started when it cannot work."""
    console = Console()
    place = str(home) if home else None
    settings = load_settings(profile, run_flags(home=place, **flags))
    asyncio.run(preflight(settings))
    console.print(f"Profile {settings.profile}, seed {settings.seed}, artifacts in {settings.home}/", highlight=False)
    with prefect_server(settings.home, settings.retention.prefect_days):
        summaries = _run_flow(console, settings, cycles=cycles, profile=settings.profile, home=place, **flags)
    for summary in summaries:
        print_summary(console, summary)
    _print_places(console, settings, summaries)


def run_watched(flow: Any, *, profile: str | None, home: Path | None, **parameters: Any) -> list[dict[str, Any]]:
    """Any flow of these settings under the progress display and a Prefect server of the folder's own."""
    console, place = Console(), str(home) if home else None
    settings = load_settings(profile, {"home": place} if place else {})
    console.print(f"Profile {settings.profile}, artifacts in {settings.home}/", highlight=False)
    with prefect_server(settings.home, settings.retention.prefect_days):
        return watched(console, settings, flow, profile=settings.profile, home=place, **parameters)


def _run_flow(console: Console, settings: FactorySettings, **parameters: Any) -> list[dict[str, Any]]:
    from flows.generate import generate

    return watched(console, settings, generate, **parameters)


def watched(console: Console, settings: FactorySettings, flow: Any, **parameters: Any) -> list[dict[str, Any]]:
    """The flow's result, its events shown as they come."""
    from flows.observing import WATCHER

    log_to_file(settings.home / "logs" / "run.log")
    watcher = ProgressWatcher(console, plain=not console.is_terminal)
    with watcher.showing():
        WATCHER.set(watcher)
        try:
            with plainly(settings.home):
                return list(asyncio.run(flow(**parameters)))
        finally:
            flush_prefect()


class _LosesLines(logging.FileHandler):
    """On a full disk lines are lost; the run ends for a better reason, which is told."""

    def handleError(self, record: logging.LogRecord) -> None:
        return None


def log_to_file(path: Path) -> None:
    """All log records of the run go to one file; the terminal belongs to the progress display."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _LosesLines(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in ("prefect", "prefect.flow_runs", "prefect.task_runs", "spade"):
        logging.getLogger(name).addHandler(handler)


def print_summary(console: Console, summary: dict[str, Any]) -> None:
    table = Table(title=f"Cycle {summary['number']} ({summary['cycle_id']})", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    for name, value in summary_rows(summary):
        table.add_row(name, value)
    console.print(table, highlight=False)


def summary_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures of a cycle, named for people. What was not measured is a dash."""
    rejected = ", ".join(f"{gate} {count}" for gate, count in summary["rejections"]) or "none"
    dropped = ", ".join(f"{gate} {count}" for gate, count in summary["exhausted"])
    rows = [
        ("environments", f"{summary['accepted']} accepted of {summary['slots']} slots, {summary['skills']} skills"),
        ("attempts", f"{summary['attempts']}, of them refused: {rejected}"),
        ("plays", f"{summary['measured']} measured of {summary['episodes']}"),
        ("wins", f"plain {_won(summary, 'plain')}, hinted {_won(summary, 'hinted')}"),
        ("mean regret", "–" if summary["regret"] is None else f"{summary['regret']:+.3f}"),
        ("learnable", f"{summary['in_band']} environments with a win rate of 0.2 to 0.8"),
        ("tokens", f"{summary['prompt_tokens']:,} in, {summary['completion_tokens']:,} out"),
        ("dataset", f"{summary['rows']} rows" if summary["rows"] else "none: no episode was fit to train on"),
        ("time", f"{summary['seconds']:.0f} s"),
    ]
    if dropped:
        rows.insert(2, ("given up", f"{summary['dropped']} slots, refused most by: {dropped}"))
    if summary["cost"] is not None:
        rows.insert(-2, ("cost", f"{summary['cost']:.4f}"))
    return rows


def _won(summary: dict[str, Any], arm: str) -> str:
    rate = summary[f"win_rate_{arm}"]
    return "–" if rate is None else f"{summary[f'wins_{arm}']} ({rate:.0%})"


def _print_places(console: Console, settings: FactorySettings, summaries: list[dict[str, Any]]) -> None:
    from data.memory import open_memory

    home = settings.home
    shown = next((s["dataset_id"] for s in summaries if s["dataset_id"]), "ID")
    for summary in summaries:
        if summary["dataset_id"]:
            console.print(f"Dataset   {home}/datasets/{summary['dataset_id']}/", highlight=False)
    console.print(f"Report    {home}/report/index.html", highlight=False)
    console.print(
        f"Memory    {open_memory(settings.memory, home, settings.store).describe()}", highlight=False, soft_wrap=True
    )
    console.print(
        "Prefect   spade ui   (or: make ui) shows the run graph and each environment's page",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Lineage   spade lineage {shown}, spade show ID, spade sql QUERY", highlight=False, soft_wrap=True)
