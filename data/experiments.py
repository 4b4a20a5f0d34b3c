"""What the runs of an experiment left: the ledger, their figures cycle by cycle, and the one page over all of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from data.catalog import Catalog
from data.report.cycles import CycleLine, cycle_lines
from data.report.plots import MARKS, Chart, Series, chart
from data.report.rendering import rendered
from data.spending import stored_spending
from data.writing import folder_made, written
from spade.experiments import Experiment, Used, differences, means, unequal

LEDGER = "ledger.json"
FIGURES: Mapping[str, Callable[[CycleLine], float | None]] = {
    "win rate": lambda line: line.plain_rate,
    "hinted win rate": lambda line: line.hinted_rate,
    "mean regret": lambda line: line.regret,
    "learnable-band share": lambda line: line.band_share,
    "accepted of slots": lambda line: line.accepted_share,
    "accepted of attempts": lambda line: line.attempts_accepted,
}
"""Figures of one cycle, by the names that the page uses."""
Lines = Mapping[tuple[str, int], Sequence[CycleLine]]


def home_of(folder: Path, profile: str, seed: int) -> Path:
    """Where one run's artifacts lie."""
    return folder / f"{profile}-{seed}"


def used_so_far(home: Path, profile: str, seed: int, *, done: bool = False, stopped: str = "") -> Used:
    """A run's line in the ledger, counted from what it stored: a killed run's part counts too."""
    catalog = Catalog(home)
    try:
        spent = stored_spending(catalog)
        cycles = len(catalog.summaries())
        return Used(profile, seed, cycles, spent.episodes, spent.tokens, spent.seconds, done, stopped)
    finally:
        catalog.close()


def lines_of(folder: Path, experiment: Experiment) -> Lines:
    """The finished cycles of each run, in order."""
    found = {}
    for profile, seed in experiment.runs:
        catalog = Catalog(home_of(folder, profile, seed))
        found[profile, seed] = [line for line in cycle_lines(catalog) if line.finished]
        catalog.close()
    return found


def write_experiment(folder: Path, experiment: Experiment, ledger: Sequence[Used]) -> Path:
    """The ledger and the page, whole or not at all; the page's path."""
    folder_made(folder)
    with written(folder / LEDGER) as file:
        file.write((json.dumps([asdict(used) for used in ledger], indent=2) + "\n").encode())
    lines = lines_of(folder, experiment)
    figures = {run: _figures(of_run) for run, of_run in lines.items()}
    page = rendered(
        "experiment.html.j2",
        experiment=experiment,
        ledger=ledger,
        notes=unequal(experiment, ledger),
        names=list(FIGURES),
        means={profile: means(profile, figures) for profile in experiment.profiles},
        differences=differences(experiment, figures),
        charts=_charts(experiment, lines),
    )
    with written(folder / "index.html") as file:
        file.write(page.encode("utf-8"))
    return folder / "index.html"


def _figures(lines: Sequence[CycleLine]) -> dict[str, float | None]:
    """A run's figures: means over the cycles in which they were measured."""
    found = {}
    for name, of in FIGURES.items():
        values = [value for line in lines if (value := of(line)) is not None]
        found[name] = fmean(values) if values else None
    return found


def _charts(experiment: Experiment, lines: Lines) -> list[Chart]:
    """Curves over cycles, each profile's mean over its seeds; three profiles a chart."""
    numbers = sorted({line.number for of_run in lines.values() for line in of_run})
    if not numbers:
        return []
    count = len(MARKS)
    parts = [experiment.profiles[i : i + count] for i in range(0, len(experiment.profiles), count)]
    return [
        chart(name.capitalize(), numbers, [_series(p, name, experiment, lines, numbers) for p in part])
        for name in ("win rate", "learnable-band share", "accepted of slots")
        for part in parts
    ]


def _series(profile: str, figure: str, experiment: Experiment, lines: Lines, numbers: Sequence[int]) -> Series:
    values: list[float | None] = []
    for number in numbers:
        of_cycle = [line for seed in experiment.seeds for line in lines[profile, seed] if line.number == number]
        measured = [value for line in of_cycle if (value := FIGURES[figure](line)) is not None]
        values.append(fmean(measured) if measured else None)
    return Series(profile, values)
