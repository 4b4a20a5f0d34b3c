"""`spade status`: what the factory does now and what it has made, from the catalog and from Prefect's server."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from data.catalog import Catalog
from data.disk import disk_by_folder
from data.spending import stored_spending
from flows.prefect_server import running_ui
from spade.settings import FactorySettings

if TYPE_CHECKING:
    from rich.console import RenderableType

HOUR = 3600.0


@dataclass(frozen=True)
class Status:
    """What is shown. `server` is its address or empty; `runs` are those under way, then the newest that ended."""

    home: Path
    server: str
    runs: list[dict[str, str]]
    figures: dict[str, str]
    disk: dict[str, int]
    stopped: str = ""
    cycles: list[dict[str, Any]] = field(default_factory=list)


def status(settings: FactorySettings) -> Status:
    """Look once. Works without a server: then only what is stored is known."""
    server = running_ui(settings.home) or ""
    catalog = Catalog(settings.home, settings.store)
    try:
        figures, stopped = _figures(catalog, settings), _stopped(catalog)
        cycles = catalog.query(
            """select number, accepted, slots, win_rate_plain, win_rate_hinted, regret, rows, seconds
            from (select *, row_number() over () as place from summaries) order by place desc limit 5"""
        )
    finally:
        catalog.close()
    disk = disk_by_folder(settings.home)
    return Status(settings.home, server.removesuffix("/api"), _runs(server), figures, disk, stopped, cycles)


def shown(found: Status) -> "RenderableType":
    """The status as panels for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    runs = Table("run", "state", "since", title="Runs", title_justify="left", expand=True)
    for run in found.runs:
        runs.add_row(Text(run["name"]), run["state"], run["since"])
    made = Table(show_header=False, title="Made so far", title_justify="left", expand=True)
    for name, value in found.figures.items():
        made.add_row(name, value)
    total = sum(found.disk.values())
    parts = ", ".join(f"{name} {size / 2**20:,.0f}" for name, size in list(found.disk.items())[:5])
    made.add_row("disk", f"{total / 2**20:,.0f} MiB ({parts})")
    cycles = Table("cycle", "accepted", "plain", "hinted", "regret", "rows", "time", title="Newest cycles")
    cycles.title_justify, cycles.expand = "left", True
    for row in found.cycles:
        cycles.add_row(*_cells(row))
    where = f"Server {found.server}" if found.server else "No server is up for this folder; start one with `spade up`."
    said = [Text(where)] + ([Text(f"The last slice stopped: {found.stopped}", "yellow")] if found.stopped else [])
    return Group(*said, *([runs] if found.runs else []), made, *([cycles] if found.cycles else []))


def _cells(row: dict[str, Any]) -> Iterator[str]:
    yield str(row["number"])
    yield f"{row['accepted']} of {row['slots']}"
    yield from ("–" if row[n] is None else f"{row[n]:.2f}" for n in ("win_rate_plain", "win_rate_hinted"))
    yield "–" if row["regret"] is None else f"{row['regret']:+.2f}"
    yield str(row["rows"])
    yield f"{row['seconds']:,.0f} s"


def _figures(catalog: Catalog, settings: FactorySettings) -> dict[str, str]:
    spent, allowed = stored_spending(catalog), settings.budget.total
    counts = catalog.query(
        """select (select count(*) from summaries) as cycles, (select count(*) from attempts) as attempts,
        (select count(*) from attempts where accepted) as accepted, (select count(*) from datasets) as datasets"""
    )[0]
    recent = catalog.query(
        "select sum(episodes) as n, min(ended - seconds) as first from spendings where ended > ?", [time.time() - HOUR]
    )[0]
    rate = f"{recent['n'] / max(1.0, time.time() - recent['first']) * 60:,.1f} a minute" if recent["n"] else "none"
    return {
        "cycles": f"{counts['cycles']:,}",
        "environments": f"{counts['accepted']:,} accepted of {counts['attempts']:,} attempts",
        "episodes": f"{spent.episodes:,}{_of(allowed.episodes)}; in the last hour {rate}",
        "tokens": f"{spent.tokens:,}{_of(allowed.tokens)}",
        "cost": f"{spent.cost:,.2f}{_of(allowed.cost)}",
        "wall clock": f"{spent.seconds / 60:,.0f} min{_of(allowed.minutes)}",
        "datasets": f"{counts['datasets']:,}",
    }


def _of(limit: float | None) -> str:
    return "" if limit is None else f" of {limit:,g}"


def _stopped(catalog: Catalog) -> str:
    rows = catalog.query("select why from spendings order by ended desc limit 1")
    return str(rows[0]["why"]) if rows else ""


def _runs(server: str) -> list[dict[str, str]]:
    if not server:
        return []
    body = {"sort": "START_TIME_DESC", "limit": 8, "flow_runs": {"deployment_id": {"is_null_": False}}}
    try:
        answer = httpx.post(f"{server}/flow_runs/filter", json=body, auth=_auth(), timeout=5.0, trust_env=False)
        answer.raise_for_status()
        return [
            {
                "name": r["name"],
                "state": r["state_name"],
                "since": (r["state"]["timestamp"] or "")[:19].replace("T", " "),
            }
            for r in answer.json()
        ]
    except httpx.HTTPError:
        return []


def _auth() -> tuple[str, str] | None:
    import os

    user, _, password = os.environ.get("PREFECT_API_AUTH_STRING", "").partition(":")
    return (user, password) if user else None
