"""Conversations that people wrote: taken into the catalog from files, and mixed into a selection at a share."""

import json
from dataclasses import dataclass
from pathlib import Path

from data.catalog import Catalog
from data.selection import Selection
from data.tables import HUMAN_ROWS
from spade.errors import Abort, Skip
from spade.human import HumanRow, drawn_share, read_human

BY_PEOPLE = ""
"""Stands where a selection names the cycle: these rows are of none."""


@dataclass(frozen=True, slots=True)
class TakenHuman:
    """Rows that are stored now, and why lines were not taken: line number and reason."""

    rows: tuple[HumanRow, ...]
    broken: tuple[tuple[int, str], ...]


def take_in_human(catalog: Catalog, path: Path, license: str = "") -> TakenHuman:
    """Store the conversations of a JSONL file; a row that is stored already stays as it is. Raises `Abort` without the
    file, or when no line of it is a conversation."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise Abort(f"{path} cannot be read: {error.strerror}.", "Give a JSONL file.") from error
    rows, broken = dict[str, HumanRow](), list[tuple[int, str]]()
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = read_human(json.loads(line), path.name, number, license)
                rows.setdefault(row.human_id, row)
            except (ValueError, RecursionError, Skip) as error:
                broken.append((number, str(error)))
    if not rows:
        first = f" Line {broken[0][0]}: {broken[0][1]}" if broken else ""
        raise Abort(f"{path} holds no conversation.{first}", "A line has messages, or a prompt and a completion.")
    known = {row.human_id for row in catalog.read(HUMAN_ROWS)}
    catalog.append("human_rows", [row for human_id, row in rows.items() if human_id not in known])
    return TakenHuman(tuple(rows.values()), tuple(broken))


def with_human(catalog: Catalog, selection: Selection, share: float, seed: int) -> Selection:
    """The selection with rows that people wrote after it, so many that they make `share` of all."""
    ids = [row["human_id"] for row in catalog.query("select human_id from human_rows where blemishes is null")]
    drawn = drawn_share(ids, share, len(selection), seed)
    return Selection(f"{selection.kind}+human", (*selection.by_cycle, (BY_PEOPLE, tuple(drawn))))


def split_off(selection: Selection) -> tuple[Selection, tuple[str, ...]]:
    """The plays of a mixed selection, and the ids of the rows that people wrote."""
    plays = tuple((cycle_id, keys) for cycle_id, keys in selection.by_cycle if cycle_id != BY_PEOPLE)
    human = tuple(key for cycle_id, keys in selection.by_cycle if cycle_id == BY_PEOPLE for key in keys)
    return Selection(selection.kind, plays), human
