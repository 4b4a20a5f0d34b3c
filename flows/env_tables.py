"""Verdicts as tables in the terminal."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

COLOURS = {"pass": "green", "warn": "yellow", "fail": "red", "error": "magenta"}


def print_checks(found: Sequence[dict[str, Any]]) -> None:
    """What `spade env check` found of each program."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    for entry in found:
        console.print(verdict_table(entry["verdicts"], f"{entry['file']}  {entry['env_id']}"))
        ending = "accepted" if entry["accepted"] else f"rejected by {entry['rejected_by']}: {entry['reason']}"
        console.print(escape(ending) + "\n")


def verdict_table(verdicts: Sequence[dict[str, Any]], title: str) -> Table:
    """One row a gate."""
    table = Table(title=escape(title), title_justify="left")
    for column in ("gate", "verdict", "measured", "what to mend"):
        table.add_column(column, overflow="fold")
    for verdict in verdicts:
        measured = "" if verdict["measured"] is None else json.dumps(verdict["measured"], ensure_ascii=False)
        status = verdict["status"]
        coloured = f"[{COLOURS[status]}]{status}[/]"
        table.add_row(verdict["gate"], coloured, escape(measured[:60]), escape(verdict["message"]))
    return table
