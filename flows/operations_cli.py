"""Commands that keep a factory going: `up`, `status`, `export`, `maintain`. Wired up in `flows/cli.py`."""

import asyncio
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]

LOOK_SECONDS = 2.0


def up(
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a password.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server and its UI.")] = 4200,
    limit: Annotated[int, typer.Option(min=1, help="Flow runs under way at once.")] = 4,
    check: Annotated[bool, typer.Option("--check", help="Say what would not work, and start nothing.")] = False,
    home: Home = None,
) -> None:
    """Start the factory: Prefect server with UI, a worker, and the deployments; Ctrl-C stops all of it.

    What dies is started again, and a run that was killed is followed by one that goes on. The database is SQLite under
    the home unless PREFECT_API_DATABASE_CONNECTION_URL names another.
    """
    from flows.configuring import flags_of, load_settings
    from flows.up import Standing

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    if check:
        from flows.checking import print_check

        raise typer.Exit(0 if print_check(settings, host=host, port=port) else 1)
    from flows.preflight import writable

    writable(settings.home)
    Standing(settings.home, host, port, limit, settings.retention.prefect_days, settings.notify.url).run()


def status(
    live: Annotated[bool, typer.Option("--live", help="Look again every two seconds, until Ctrl-C.")] = False,
    home: Home = None,
) -> None:
    """Show what runs, what was made, what it cost, and what the disk holds."""
    from rich.console import Console
    from rich.live import Live

    from flows.configuring import flags_of, load_settings
    from flows.status import shown
    from flows.status import status as looked

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    if not live:
        Console().print(shown(looked(settings)))
        return
    with Live(shown(looked(settings)), auto_refresh=False) as display, suppress(KeyboardInterrupt):
        while True:
            time.sleep(LOOK_SECONDS)
            display.update(shown(looked(settings)), refresh=True)


def export(  # noqa: PLR0913 - one parameter a flag
    kind: Annotated[str, typer.Argument(help="sft, dpo, kto, grpo, ...: docs/datasets.md lists all.")] = "sft",
    name: Annotated[str | None, typer.Option(help="The dataset's name.", show_default="the kind")] = None,
    cycle: Annotated[list[str] | None, typer.Option(help="Take from this cycle alone; repeat for more.")] = None,
    test_share: Annotated[float, typer.Option(min=0, max=0.9, help="Share of documents in a test split.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    license: Annotated[str, typer.Option(help="Licence on the card.")] = "other",
    environments: Annotated[
        int | None, typer.Option(min=1, help="At most so many, those first whose plays teach most (task kinds).")
    ] = None,
    human_share: Annotated[float, typer.Option(min=0, max=0.99, help="Share of rows by people (sft-mixed).")] = 0.0,
    human: Annotated[Path | None, typer.Option(help="JSONL of rows by people, taken in first (sft-mixed).")] = None,
    allow_overlap: Annotated[
        bool, typer.Option("--allow-overlap", help="Write rows too that repeat held-out tasks (spade decontaminate).")
    ] = False,
    home: Home = None,
) -> None:
    """Write a dataset of everything stored that is fit for it, behind its expectations."""
    place = str(home) if home else None
    parameters = {"kind": kind, "name": name, "cycles": cycle, "test_share": test_share, "environments": environments}
    parameters |= {"human_share": human_share, "human": str(human.absolute()) if human else None}
    parameters["allow_overlap"] = allow_overlap
    done = _flow_in(place, "flows.export.export", **parameters, seed=seed, license=license)
    if not done["rows"]:
        print(f"No row is fit for a dataset of kind {kind} yet.")
        raise typer.Exit(1)
    print(f"{done['rows']} rows in {done['folder']}")


def maintain(home: Home = None) -> None:
    """Merge small files, expire what the settings no longer keep, check the catalog, and show the disk."""
    print(_flow_in(str(home) if home else None, "flows.maintain.maintain")["page"])


def _flow_in(home: str | None, path: str, **parameters: Any) -> Any:
    """Run a flow here and now, with a server at hand."""
    from flows.configuring import flags_of, load_settings
    from flows.prefect_server import flush_prefect, prefect_server
    from flows.preflight import writable
    from flows.reasons import plainly

    settings = load_settings(None, flags_of(home=home))
    writable(settings.home)
    with prefect_server(settings.home, settings.retention.prefect_days):
        try:
            module, _, name = path.rpartition(".")
            flow = getattr(import_module(module), name)
            with plainly(settings.home):
                return asyncio.run(flow(profile=settings.profile, home=home, **parameters))
        finally:
            flush_prefect()
