"""`spade experiment`: grids of profiles and seeds from the command line."""

from pathlib import Path
from typing import Annotated

import typer

from flows.interrupting import stoppable
from spade.errors import Abort

experiment_app = typer.Typer(name="experiment", help="Compare profiles under one budget.", no_args_is_help=True)


@experiment_app.command()
def run(
    file: Annotated[Path, typer.Argument(help="TOML: name, profiles, seeds, [budget] (docs/evaluation.md).")],
    model: Annotated[
        str | None, typer.Option(help="Name at the endpoint, or package:NAME, path:FILE, hub:REPO.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint, such as a vLLM server.")] = None,
    home: Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")] = None,
) -> None:
    """Run every profile on every seed under one budget, and write one page: curves, table, paired differences, ledger.

    Each run has a home of its own under experiments/NAME. Stopped or killed, the same command goes on: what a run has
    used so far counts. Budgets that would be unequal are refused.
    """
    from rich.console import Console

    from flows.configuring import flags_of, load_settings
    from flows.experiment import run_experiment
    from spade.experiments import read_experiment

    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise Abort(f"{file} cannot be read: {error.strerror}.", "Name an experiment as TOML.") from error
    place = load_settings(None, flags_of(home=str(home) if home else None)).home
    with stoppable():
        page = run_experiment(read_experiment(text, str(file)), place, Console(), model=model, base_url=base_url)
    print(f"Page      {page}")
