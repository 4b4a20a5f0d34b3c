"""From any id to where it came from and what became of it: document, prompt, attempt, environment, episode, dataset."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from data.catalog import Catalog
from data.tables import TABLES, Table
from spade.errors import Abort

AT_ONCE = 4
"""Questions to the catalog at a time; most of one is spent outside Python."""
SHOWN_CHILDREN = 12
"""Records listed under one node; the others are counted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What ids of one kind name: a table, its id column, and an SQL text that says what the record is."""

    prefix: str
    word: str
    table: str
    column: str
    label: str
    order: str = ""
    """Columns that sort records of one kind beside each other; the id when empty."""


_TRY = "'try ' || (number + 1) || if(accepted, ' accepted', ' refused by ' || rejected_by) || ' · ' || model"
_PLAY = """arm || ' r' || round || ' play ' || play || ' seed ' || seed || ' · ' || outcome
    || coalesce(' · return ' || round("return", 3)::varchar || if(won, ' won', ' lost'), '')"""
_HINT = "if(accepted, left(text, 60), 'refused by ' || rejected_by)"
KINDS = (
    Kind("doc", "document", "documents", "document_id", "coalesce(nullif(title, ''), left(text, 60))"),
    Kind("cycle", "cycle", "cycles", "cycle_id", "'number ' || number || ', seed ' || seed"),
    Kind("slot", "slot", "slots", "slot_id", "'#' || index || ' ' || skill", "index"),
    Kind("prompt", "prompt", "prompts", "prompt_id", "role || ' ' || template"),
    Kind("attempt", "attempt", "attempts", "attempt_id", _TRY, "number"),
    Kind("env", "environment", "environments", "env_id", "title || ' · ' || skill"),
    Kind("hint", "hint", "hints", "hint_id", _HINT, "number"),
    Kind("ep", "episode", "episodes", "episode_id", _PLAY, "round, play, arm"),
    Kind("decision", "decision", "decisions", "decision_id", "pool || if(kept, ' kept', ': ' || reason)"),
    Kind("row", "dataset row", "dataset_rows", "row_id", "'#' || index || ' ' || split", "index"),
    Kind("human", "written by a person", "human_rows", "human_id", "source || ':' || line"),
    Kind("batch", "batch", "train_batches", "batch_id", "samples || ' samples, round ' || round || ', ' || weights"),
    Kind("ckpt", "checkpoint", "checkpoints", "checkpoint_id", "'update ' || update || ' of ' || base", "update"),
    Kind("review", "review", "reviews", "review_id", "if(correct, 'correct', 'not correct') || ' · ' || reviewer"),
    Kind("dataset", "dataset", "datasets", "dataset_id", "name || ' · ' || kind || ', ' || rows || ' rows'"),
)
_WHOLE = re.compile(r"-[0-9a-f]{16}$")
_BY_PREFIX = {kind.prefix: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Edge:
    """`child` came out of `parent`; `table` holds both ids side by side."""

    parent: str
    child: str
    table: str
    parent_column: str
    child_column: str
    condition: str = "true"
    last: bool = False
    """Whether what is reached along it is listed and not followed: examples have examples, without end."""


_SHOWN = "(select env_id, unnest(examples) as example from attempts where accepted)"
EDGES = (
    Edge("cycle", "slot", "slots", "cycle_id", "slot_id"),
    Edge("doc", "slot", "slots", "document_id", "slot_id"),
    Edge("slot", "attempt", "attempts", "slot_id", "attempt_id"),
    Edge("prompt", "attempt", "attempts", "prompt_id", "attempt_id"),
    Edge("attempt", "env", "attempts", "attempt_id", "env_id", "accepted"),
    Edge("env", "env", _SHOWN, "example", "env_id", last=True),
    Edge("prompt", "hint", "hints", "prompt_id", "hint_id"),
    Edge("env", "hint", "hints", "env_id", "hint_id"),
    Edge("env", "ep", "episodes", "env_id", "episode_id"),
    Edge("hint", "ep", "episodes", "hint_id", "episode_id"),
    Edge("ep", "decision", "decisions", "episode_id", "decision_id"),
    Edge("ep", "row", "dataset_rows", "episode_id", "row_id"),
    Edge("ep", "row", "dataset_rows", "paired_episode_id", "row_id", "paired_episode_id <> ''"),
    Edge("human", "row", "dataset_rows", "document_id", "row_id", "starts_with(document_id, 'human-')"),
    Edge("row", "review", "reviews", "row_id", "review_id"),
    Edge("row", "dataset", "dataset_rows", "row_id", "dataset_id"),
    Edge("ep", "batch", "train_rows", "subject_id", "batch_id", "role = 'agent'"),
    Edge("attempt", "batch", "train_rows", "subject_id", "batch_id", "role = 'designer'"),
    Edge("batch", "ckpt", "checkpoints", "batch_id", "checkpoint_id"),
)


@dataclass(frozen=True, slots=True)
class Node:
    """One record of a lineage. `others` counts neighbours that are not listed; a record is expanded once."""

    kind: str
    id: str
    label: str
    neighbours: tuple["Node", ...] = ()
    others: int = 0

    def json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "id": self.id,
            "label": self.label,
            "others": self.others,
            "neighbours": [node.json() for node in self.neighbours],
        }


@dataclass(frozen=True, slots=True)
class Lineage:
    """One record twice: with what it was made of as neighbours, and with what was made of it."""

    up: Node
    down: Node

    def json(self) -> dict[str, Any]:
        return {
            "kind": self.up.kind,
            "id": self.up.id,
            "label": self.up.label,
            "made_of": self.up.json()["neighbours"],
            "became": self.down.json()["neighbours"],
        }


@dataclass(slots=True)
class _Found:
    """One neighbour as a query found it; `total` counts all neighbours along the same edge."""

    kind: str
    id: str
    label: str | None
    total: int
    last: bool = False


def resolve(catalog: Catalog, text: str) -> tuple[Kind, str]:
    """The kind and whole id of an id or of the beginning of one. Raises `Abort` when none or several match."""
    prefix, _, digits = text.strip().rpartition("-")
    if prefix not in _BY_PREFIX and prefix:
        raise Abort(f"{text!r} is no id.", f"Ids look like {', '.join(k.prefix + '-…' for k in KINDS)}.")
    kinds = [_BY_PREFIX[prefix]] if prefix else list(KINDS)
    found = [(kind, id_) for kind in kinds for id_ in _beginning(catalog, kind, f"{kind.prefix}-{digits}")]
    if not found:
        raise Abort(f"Nothing in the catalog has the id {text!r}.", f"The catalog is {catalog.folder}.")
    if len(found) > 1:
        names = ", ".join(id_ for _, id_ in found[:5])
        raise Abort(f"{text!r} is the beginning of several ids: {names}.", "Give more of it.")
    return found[0]


def lineage(catalog: Catalog, text: str) -> Lineage:
    """The chain around an id, up to its documents and prompts and down to its datasets."""
    kind, id_ = resolve(catalog, text)
    label = _labels(catalog, kind.prefix, [id_]).get(id_, "")
    subject = _Found(kind.prefix, id_, label, 1)
    return Lineage(up=_tree(catalog, subject, up=True), down=_tree(catalog, subject, up=False))


def show(catalog: Catalog, text: str) -> tuple[Kind, Any]:
    """The kind of an id and its whole record."""
    kind, id_ = resolve(catalog, text)
    table: Table[Any] = TABLES[kind.table]
    return kind, catalog.read(table, **{kind.column: id_})[0]


def _beginning(catalog: Catalog, kind: Kind, start: str) -> list[str]:
    """Ids that begin like this, at most six. A whole id is looked for as such first: the filters of the files tell."""
    if _WHOLE.search(start):
        sql = f"select {kind.column} as id from {kind.table} where {kind.column} = ? limit 1"
        if found := catalog.query(sql, [start]):
            return [row["id"] for row in found]
    sql = f"select {kind.column} as id from {kind.table} where starts_with({kind.column}, ?) limit 6"
    return [row["id"] for row in catalog.query(sql, [start])]


def _tree(catalog: Catalog, subject: _Found, *, up: bool) -> Node:
    """All that is reached in one direction, breadth first: a few queries a level, however wide it is.

    A record that several paths reach stands where the shortest reaches it.
    """
    listed: dict[str, list[_Found]] = {}
    totals: dict[tuple[str, str], int] = {}
    seen, frontier = {subject.id}, {subject.kind: [subject.id]}
    while frontier:
        reached: dict[str, list[str]] = {}
        for origin, found in _level(catalog, frontier, up=up):
            totals[origin, found.kind] = max(found.total, totals.get((origin, found.kind), 0))
            if found.id not in seen:
                seen.add(found.id)
                listed.setdefault(origin, []).append(found)
                if not found.last:
                    reached.setdefault(found.kind, []).append(found.id)
        frontier = reached
    return _assembled(subject, listed, totals)


def _level(catalog: Catalog, frontier: dict[str, list[str]], *, up: bool) -> list[tuple[str, _Found]]:
    """Every neighbour of the frontier with the id it is a neighbour of; the edges are asked side by side."""

    def along(edge: Edge) -> list[tuple[str, _Found]]:
        here, there = (edge.child, edge.parent) if up else (edge.parent, edge.child)
        rows = catalog.query(*_edge_query(edge, frontier[here], up=up))
        missing = [row["id"] for row in rows if row["label"] is None]
        labels = _labels(catalog, there, missing) if missing else {}
        return [
            (row["origin"], _Found(there, row["id"], row["label"] or labels.get(row["id"]), row["total"], edge.last))
            for row in rows
        ]

    followed = [edge for edge in EDGES if (edge.child if up else edge.parent) in frontier]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return [found for edge in threads.map(along, followed) for found in edge]


def _edge_query(edge: Edge, ids: Sequence[str], *, up: bool) -> tuple[str, list[str]]:
    """SQL for the first neighbours of each id along one edge, with labels where the edge's table has them."""
    origin, there = (edge.child_column, edge.parent_column) if up else (edge.parent_column, edge.child_column)
    kind = _BY_PREFIX[edge.parent if up else edge.child]
    own = kind.table == edge.table
    label, order = (kind.label, kind.order or there) if own else ("null", there)
    sql = f"""select origin, id, label, total from (
            select {origin} as origin, {there} as id, {label} as label,
                count(*) over (partition by {origin}) as total,
                row_number() over (partition by {origin} order by {order}) as place
            from {edge.table} where {origin} in ({_marks(ids)}) and {there} <> '' and {edge.condition}
        ) where place <= {SHOWN_CHILDREN} order by origin, place"""
    return sql, list(ids)


def _labels(catalog: Catalog, prefix: str, ids: Sequence[str]) -> dict[str, str]:
    kind = _BY_PREFIX[prefix]
    sql = f"select {kind.column} as id, {kind.label} as label from {kind.table} where {kind.column} in ({_marks(ids)})"
    return {row["id"]: row["label"] for row in catalog.query(sql, list(ids))}


def _marks(ids: Sequence[str]) -> str:
    return ", ".join("?" * len(ids))


def _assembled(found: _Found, listed: dict[str, list[_Found]], totals: dict[tuple[str, str], int]) -> Node:
    inner = tuple(_assembled(f, listed, totals) for f in listed.get(found.id, ()))
    more = sum(max(0, total - SHOWN_CHILDREN) for (origin, _), total in totals.items() if origin == found.id)
    return Node(found.kind, found.id, found.label or "not in the catalog", inner, more)
