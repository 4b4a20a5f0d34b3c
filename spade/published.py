"""Figures that others published, to be shown beside ours and never mixed with them."""

import tomllib
from dataclasses import dataclass

from spade.errors import Abort


@dataclass(frozen=True, slots=True)
class Published:
    """One row that somebody published: values by group, in [0, 1]. `note` says what is not comparable."""

    suite: str
    name: str
    source: str
    values: tuple[tuple[str, float], ...]
    note: str = ""


def read_published(text: str, where: str) -> list[Published]:
    """Rows from TOML: `[[row]]` with suite, name, source, note and a table `values`. Raises `Abort` naming the row."""
    try:
        rows = tomllib.loads(text).get("row", [])
    except tomllib.TOMLDecodeError as error:
        raise Abort(f"{where} is not valid TOML: {error}.", "Mend that line.") from error
    return [_row(row, f"row {number} of {where}") for number, row in enumerate(rows, 1)]


def _row(row: dict[str, object], where: str) -> Published:
    values = row.get("values")
    if not isinstance(values, dict) or not all(row.get(name) for name in ("suite", "name", "source")):
        raise Abort(f"{where} lacks suite, name, source or values.", "A published figure needs its source.")
    odd = [group for group, value in values.items() if not isinstance(value, int | float) or not 0 <= value <= 1]
    if odd:
        raise Abort(f"{odd[0]} in {where} is no number from 0 to 1.", "Write shares, not percent.")
    pairs = tuple((str(group), float(value)) for group, value in values.items())
    return Published(str(row["suite"]), str(row["name"]), str(row["source"]), pairs, str(row.get("note", "")))
