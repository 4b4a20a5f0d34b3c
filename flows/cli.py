"""The command line. Each command checks its input, then hands over; heavy imports happen inside the commands."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.allocating import give_back_memory
from flows.audit_cli import audit
from flows.corpus_cli import corpus_app
from flows.data_cli import lineage, show, sql
from flows.env_cli import env_app, parse
from flows.evaluation_cli import decontaminate, evaluate, results
from flows.experiment_cli import experiment_app
from flows.interrupting import stoppable
from flows.model_cli import fetch_model, serve_model
from flows.operations_cli import export, maintain, status, up
from flows.ratings_cli import ratings
from flows.review_cli import review
from flows.sandbox_cli import doctor, sandbox_app
from flows.training_cli import pack_checkpoint, self_play, train
from spade.errors import SpadeError

app = typer.Typer(
    name="spade",
    help="A data factory that makes its own training environments: design, verify, play, score, export.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog="Start with `spade run`. Every id that is printed can be given to `spade lineage` and `spade show`.",
)
RUN, LOOK, CHECK, SERVE = "Run", "Look at what came out", "Check and try", "Models"

Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]
Profile = Annotated[str | None, typer.Option(help="Settings profile.", show_default="starter")]


@app.command(rich_help_panel=RUN)
def run(  # noqa: PLR0913 - one parameter a flag
    cycles: Annotated[int, typer.Option(min=1, help="How many cycles to finish.")] = 1,
    profile: Profile = None,
    model: Annotated[
        str | None, typer.Option(help="Name at the endpoint, or package:NAME, path:FILE, hub:REPO.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint, such as a vLLM server.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random draw.", show_default="0")] = None,
    slots: Annotated[int | None, typer.Option(min=1, help="Environments to design per cycle.")] = None,
    plays: Annotated[int | None, typer.Option(min=1, help="Plays per arm and environment.")] = None,
    home: Home = None,
) -> None:
    """Run the loop: design environments, play them with and without the hint, score, curate, export.

    A run that was stopped or killed is finished first. The endpoint's key is read from SPADE_API_KEY or OPENAI_API_KEY.
    """
    from flows.running import run_cycles

    with stoppable():
        run_cycles(
            cycles=cycles,
            profile=profile,
            model=model,
            base_url=base_url,
            seed=seed,
            slots=slots,
            plays=plays,
            home=home,
        )


@app.command(rich_help_panel=RUN)
def settings(profile: Profile = None) -> None:
    """Print every setting of a profile as it would be used, with where it can be changed."""
    from flows.configuring import SETTINGS_FILE, load_settings, profile_names

    print(load_settings(profile).model_dump_json(indent=2))
    print(
        f"\nProfiles: {', '.join(profile_names())}. Change a setting in {SETTINGS_FILE} ([cycle] slots = 4), "
        "in the environment (SPADE_CYCLE__SLOTS=4), or by a flag.",
        file=sys.stderr,
    )


@app.command(rich_help_panel=LOOK)
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on loopback.")] = 4200,
    home: Home = None,
) -> None:
    """Open the Prefect UI over all runs of this folder; Ctrl-C stops it."""
    from flows.configuring import flags_of, load_settings
    from flows.prefect_server import serve_ui

    serve_ui(load_settings(None, flags_of(home=str(home) if home else None)).home, port)


@app.command(rich_help_panel=LOOK)
def report(home: Home = None) -> None:
    """Write the HTML report over everything that is stored."""
    from data.catalog import Catalog
    from data.report import write_report
    from flows.configuring import flags_of, load_settings

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    print(write_report(Catalog(settings.home, settings.store), settings.home / "report"))


app.command(rich_help_panel=RUN)(up)
app.command(rich_help_panel=LOOK)(status)
app.command(rich_help_panel=RUN)(export)
app.command(rich_help_panel=RUN)(maintain)
app.command(rich_help_panel=RUN)(train)
app.command("self-play", rich_help_panel=RUN)(self_play)
app.command(rich_help_panel=RUN)(evaluate)
app.add_typer(experiment_app, name="experiment", rich_help_panel=RUN)
app.command(rich_help_panel=LOOK)(results)
app.command(rich_help_panel=CHECK)(decontaminate)
for command in (lineage, show, ratings, sql, review):
    app.command(rich_help_panel=LOOK)(command)
app.add_typer(corpus_app, name="corpus", rich_help_panel=CHECK)
app.command(rich_help_panel=CHECK)(audit)
app.command(rich_help_panel=CHECK)(doctor)
app.add_typer(env_app, name="env", rich_help_panel=CHECK)
app.command(rich_help_panel=CHECK)(parse)
app.add_typer(sandbox_app, name="sandbox", rich_help_panel=CHECK)
app.command("serve-model", rich_help_panel=SERVE)(serve_model)
app.command("fetch-model", rich_help_panel=SERVE)(fetch_model)
app.command("pack-checkpoint", rich_help_panel=SERVE)(pack_checkpoint)


def main() -> None:
    """Entry point: what is raised on purpose becomes one sentence and exit code 2."""
    give_back_memory()
    try:
        app()
    except SpadeError as error:
        print(f"spade: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
