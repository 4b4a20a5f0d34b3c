"""Commands over what is stored: `lineage`, `show`, `sql`. Wired up in `flows/cli.py`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spade.errors import Abort

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from data.catalog import Catalog
    from data.lineage import Node

Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or the beginning of one.")]


def lineage(id: Id, home: Home = None, as_json: AsJson = False) -> None:
    """Print where an id came from and what became of it: document, prompt, attempt, environment, episode, dataset."""
    from rich.tree import Tree

    from data.lineage import lineage as traced

    found = traced(catalog_of(home), id)
    if as_json:
        print_json(found.json())
        return
    for title, node in (("made of", found.up), ("became", found.down)):
        if node.neighbours:
            tree = Tree(_line(node) + f" [dim]{title}[/dim]")
            _grow(tree, node)
            console_of().print(tree)
    if not found.up.neighbours and not found.down.neighbours:
        console_of().print(_line(found.up))


def show(id: Id, home: Home = None, as_json: AsJson = False) -> None:
    """Print the whole record of an id: a document's text, an environment's program, an episode turn by turn."""
    from data.lineage import show as shown

    kind, record = shown(catalog_of(home), id)
    values = asdict(record)
    if as_json:
        print_json({"kind": kind.word, "id": getattr(record, kind.column), **values})
        return
    console = console_of()
    console.print(f"[bold]{kind.word}[/bold] {getattr(record, kind.column)}")
    print_values(console, values)


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT.")] = "",
    home: Home = None,
    as_json: AsJson = False,
    tables: Annotated[bool, typer.Option("--tables", help="List tables and columns.")] = False,
) -> None:
    """Ask the catalog with SQL (DuckDB's dialect); reads only. `spade sql --tables` lists what there is."""
    catalog = catalog_of(home)
    rows = catalog.query(query) if query and not tables else _tables(catalog)
    if as_json:
        print_json(rows)
        return
    print_rows(rows)


def catalog_of(home: Path | None) -> "Catalog":
    from data.catalog import Catalog
    from flows.configuring import flags_of, load_settings

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    catalog = Catalog(settings.home, settings.store)
    if not catalog.exists():
        raise Abort(f"There is no catalog in {settings.home} yet.", "Start with `spade run`, or give --home.")
    return catalog


def console_of() -> "Console":
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def shown_text(text: str) -> Any:
    """Text from a model or a document: printed as it is, never as markup, control characters shown."""
    from rich.text import Text

    return Text("".join(c if c in "\n\t" or c.isprintable() else ascii(c)[1:-1] for c in text))


def _line(node: "Node") -> str:
    from rich.markup import escape

    label = " ".join(shown_text(node.label).plain.split())
    return f"[bold]{node.kind}[/bold] {node.id} [dim]{escape(label)}[/dim]"


def _grow(tree: "Tree", node: "Node") -> None:
    for neighbour in node.neighbours:
        _grow(tree.add(_line(neighbour)), neighbour)
    if node.others:
        tree.add(f"[dim]and {node.others} more[/dim]")


def print_values(console: "Console", values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            console.print(f"{indent}[bold]{name}[/bold]")
            print_values(console, value, indent + "  ")
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            for number, part in enumerate(value):
                console.print(f"{indent}[bold]{name} {number + 1}[/bold]")
                print_values(console, part, indent + "  ")
        elif value not in ("", None, (), []):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            console.print(f"{indent}[bold]{name}[/bold]", end="\n" if "\n" in text else " ")
            console.print(shown_text(text))


def _tables(catalog: "Catalog") -> list[dict[str, Any]]:
    return [{"table": table, "columns": ", ".join(columns)} for table, columns in catalog.tables().items()]


def print_rows(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    if not rows:
        print("no rows")
        return
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*("" if value is None else shown_text(str(value)) for value in row.values()))
    console_of().print(table)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True, default=str))
