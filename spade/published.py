"""Figures that others published, to be shown beside ours and never mixed with them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from spade.errors import Abort

PAPER = "the SPADE paper (arXiv 2608.19197)"


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


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper about what its loop made; `early` is its value at the start of training where it names
    one."""

    name: str
    text: str


FIGURES: Sequence[Figure] = (
    Figure("raw executability", "84.9 % (after retries 100 %)"),
    Figure("well-posedness", "97–98 %"),
    Figure("verifiability", "90–93 %"),
    Figure("learnable-band share", "0.16 → 0.31"),
    Figure("distinct reward levels", "3.7 → 5.8"),
    Figure("formula or answer printed at reset", "25 % → 5 %"),
    Figure("lines", "about 320"),
    Figure("state variables", "about 13"),
    Figure("Vendi / n", "0.68 (0.04 without documents)"),
)
"""The paper's figures about its environments (docs/gates.md), by the names that the report uses."""
