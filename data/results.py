"""Results as they are stored: evaluations with their scores, as pages and files."""

from collections.abc import Sequence
from pathlib import Path

from data.catalog import Catalog
from data.report.plots import Chart, Series, chart
from data.report.rendering import rendered
from data.tables import EVALUATIONS, SAMPLES
from data.writing import folder_made, written
from spade.evaluation import Evaluation
from spade.evaluation_scores import group_scores
from spade.published import Published
from spade.results import Result, tables

FOLDER = "evaluations"


def stored_results(catalog: Catalog, evaluation_ids: Sequence[str] | None = None) -> list[Result]:
    """The evaluations named, or all: of those with equal settings and label, the one with the most tasks stands for
    the others."""
    evaluations = catalog.read(EVALUATIONS)
    if evaluation_ids is not None:
        by_id = {e.evaluation_id: e for e in evaluations}
        evaluations = [by_id[each] for each in evaluation_ids if each in by_id]
    else:
        evaluations = _largest(evaluations)
    return [Result(e, group_scores(e, catalog.read(SAMPLES, settings_id=e.settings_id))) for e in evaluations]


def _largest(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    kept: dict[tuple[str, str], Evaluation] = {}
    for each in evaluations:
        key = (each.settings_id, each.label)
        if key not in kept or _size(each) >= _size(kept[key]):
            kept[key] = each
    return list(kept.values())


def _size(evaluation: Evaluation) -> int:
    return len(evaluation.task_ids) * evaluation.put.protocol.samples


def over_checkpoints(results: Sequence[Result]) -> list[Chart]:
    """A chart a suite with two or more checkpoints that have a place: the score of all its tasks over updates."""
    charts = []
    for suite in dict.fromkeys(r.evaluation.put.suite.name for r in results):
        found = {r.evaluation.place: r.scores[-1] for r in results if r.evaluation.put.suite.name == suite}
        placed = sorted(((place, s) for place, s in found.items() if place is not None), key=lambda pair: pair[0])
        if len(placed) > 1:
            spreads = [(s.interval.high - s.interval.low) / 2 if s.interval else None for _, s in placed]
            series = Series("score of all tasks", [s.score for _, s in placed], spreads)
            charts.append(chart(f"{suite} over updates", [place for place, _ in placed], [series], place="update"))
    return charts


def write_page(catalog: Catalog, home: Path, published: Sequence[Published] = ()) -> Path:
    """`evaluations/results.html` over everything stored; its path. Raises `Abort` where it cannot be written."""
    path = home / FOLDER / "results.html"
    folder_made(path.parent)
    with written(path) as file:
        file.write(results_html(stored_results(catalog), published).encode("utf-8"))
    return path


def results_html(results: Sequence[Result], published: Sequence[Published] = ()) -> str:
    """The page itself; it needs no network and runs no script."""
    return rendered("results.html.j2", tables=tables(results, published), charts=over_checkpoints(results))
