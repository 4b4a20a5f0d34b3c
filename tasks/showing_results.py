"""Results of evaluations in the Prefect UI: a table, and a plot over checkpoints where there are several."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect.artifacts import acreate_markdown_artifact

from data.catalog import Catalog
from data.results import stored_results, write_page
from spade.results import Result, markdown, name_of, tables

BARS = 40


async def show_results(catalog: Catalog, home: Path, evaluation_ids: Sequence[str]) -> list[dict[str, Any]]:
    """A page an evaluated suite with every stored result of it, and the results of this run as JSON values."""
    everything, page = stored_results(catalog), write_page(catalog, home)
    mine = stored_results(catalog, evaluation_ids)
    for table in tables(everything):
        of_suite = [r for r in everything if r.evaluation.put.suite.name == table.suite]
        if any(r.evaluation.put.suite.name == table.suite for r in mine):
            text = "\n\n".join(filter(None, [markdown(table), over_updates(of_suite), f"Page: `{page}`"]))
            await acreate_markdown_artifact(key=f"results-{table.suite}", markdown=text, description=table.suite)
    return [
        {
            "evaluation_id": result.evaluation.evaluation_id,
            "suite": result.evaluation.put.suite.name,
            "model": name_of(result.evaluation),
            "scores": [asdict(score) for score in result.scores],
        }
        for result in mine
    ]


def over_updates(results: Sequence[Result]) -> str:
    """The score over training updates as bars; nothing where fewer than two checkpoints have a place."""
    placed = sorted((r.evaluation.place, r.scores[-1].score) for r in results if r.evaluation.place is not None)
    if len({place for place, _ in placed}) < 2:
        return ""
    lines = [f"{place:>6} {_bar(score)}" for place, score in placed]
    return "\n".join(["#### Over updates", "", "```text", *lines, "```"])


def _bar(score: float | None) -> str:
    return "not measured" if score is None else f"{'█' * round(score * BARS)} {score:.3f}"
