"""`spade evaluate` and `spade results`: held-out suites from the command line."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from flows.interrupting import stoppable
from spade.errors import Abort

Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]


def evaluate(  # noqa: PLR0913 - one parameter a flag
    suite: Annotated[
        list[str], typer.Option(help="A suite with its options, such as reasoning-gym:level=easy; repeat for more.")
    ],
    model: Annotated[
        str | None,
        typer.Option(help="Name at the endpoint, package:NAME, path:FILE, hub:REPO, checkpoint:latest|UPDATE|FOLDER."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint, such as a vLLM server.")] = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, help="Tasks of each group of the suite.", show_default="all")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Samples of each task.", show_default="the suite's")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="Sampling temperature.", show_default="the suite's")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="New tokens per reply.", show_default="the suite's")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of tasks and samples.", show_default="0")] = None,
    context: Annotated[
        int | None, typer.Option(min=256, help="Context of the embedded server, in tokens.", show_default="2048")
    ] = None,
    label: Annotated[str, typer.Option(help="What the model is called in tables.")] = "",
    update: Annotated[int | None, typer.Option(min=0, help="The checkpoint's update, for the plot.")] = None,
    profile: Annotated[str | None, typer.Option(help="Settings profile.", show_default="starter")] = None,
    home: Home = None,
) -> None:
    """Evaluate a model on held-out suites: reasoning-gym, bfcl, aime and others (docs/evaluation.md).

    What is stored is not asked again, so the same command goes on where a stopped or killed one ended, and further
    tasks or samples add to what is there. Errors are counted in the table, never dropped.
    """
    from data.benchmarks.registry import wanted
    from flows.evaluate import evaluate as flow
    from flows.running import run_watched

    for text in suite:
        wanted(text)
    parameters: dict[str, Any] = {
        "suites": suite, "model": model, "base_url": base_url, "tasks": tasks, "samples": samples,
        "temperature": temperature, "max_tokens": max_tokens, "seed": seed, "context": context, "label": label,
        "update": update,
    }  # fmt: skip
    with stoppable():
        made = run_watched(flow, profile=profile, home=home, **parameters)
    _print(home, "markdown", None, [each["evaluation_id"] for each in made])


Format = Literal["markdown", "csv", "latex", "html"]


def results(
    format: Annotated[Format, typer.Option(help="What to print.")] = "markdown",
    suite: Annotated[str | None, typer.Option(help="This suite alone.")] = None,
    published: Annotated[
        list[Path] | None, typer.Option(help="TOML of rows that others published, to stand beside; repeat for more.")
    ] = None,
    home: Home = None,
) -> None:
    """Render all stored results: a table a suite, with n, intervals, what is missing and what is not comparable."""
    from spade.published import read_published

    rows = []
    for path in published or []:
        try:
            rows += read_published(path.read_text("utf-8"), str(path))
        except OSError as error:
            raise Abort(f"{path} cannot be read: {error.strerror}.", "Name a TOML file of rows.") from error
    _print(home, format, suite, None, rows)


def _print(
    home: Path | None, format: Format, suite: str | None, ids: list[str] | None, published: list[Any] | None = None
) -> None:
    from data.catalog import Catalog
    from data.results import results_html, stored_results
    from flows.configuring import flags_of, load_settings
    from spade.results import comma_separated, latex, markdown, tables

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    place, catalog = settings.home, Catalog(settings.home, settings.store)
    found = [r for r in stored_results(catalog, ids) if suite is None or r.evaluation.put.suite.name == suite]
    if not found:
        raise Abort(
            f"There are no results in {place} yet.", "`spade evaluate --suite reasoning-gym --tasks 10` makes some."
        )
    if format == "html":
        print(results_html(found, published or []))
        return
    made = tables(found, published or [])
    if format == "csv":
        print(comma_separated(made), end="")
        return
    print("\n\n".join(map(latex if format == "latex" else markdown, made)))


def decontaminate(  # noqa: PLR0913 - one parameter a flag
    suite: Annotated[list[str], typer.Option(help="A suite with its options; repeat for more.")],
    tasks: Annotated[
        int | None, typer.Option(min=1, help="Tasks of each group of the suite.", show_default="all")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the suite's tasks, as they are evaluated.")] = 0,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="Look at the whole corpus too, not only at what was drawn.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="Settings profile.", show_default="starter")] = None,
    home: Home = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what repeats a held-out task: documents, environments and plays, by 13 words in a row or by meaning.

    Hits are stored, and `spade export` refuses rows that come from them unless --allow-overlap is given.
    """
    import asyncio

    from flows.configuring import flags_of, load_settings
    from flows.data_cli import print_json, print_rows
    from flows.decontaminating import compared

    settings = load_settings(profile, flags_of(home=str(home) if home else None))
    found = asyncio.run(compared(settings, suite, tasks, seed, whole_corpus=corpus))
    rows = [
        {"suite": h.suite, "task": h.task_id, "by": h.by, "score": f"{h.score:.3g}", "what": h.kind, "id": h.subject_id}
        for h in found
    ]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows)
    refusing = sum(hit.refuses for hit in found)
    print(f"{len(found)} hits, {refusing} of them keep rows out of exports.", file=sys.stderr)
