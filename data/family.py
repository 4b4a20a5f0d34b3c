"""Where environments stand among others: what each was made of, what became of it, and whom it descends from or led to.

An environment descends from those that its designer was shown as examples. For pages that are written often: a few
questions for many environments at once. `data/lineage.py` follows any id all the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data.catalog import Catalog

GENERATIONS = 3
MOST = 24
"""Relatives that are listed in each direction, the nearest first."""
_PARENTS = """select distinct env_id as origin, other from
    (select env_id, unnest(examples) as other from attempts where accepted) where env_id in ({})"""
_CHILDREN = """select distinct other as origin, env_id as other from
    (select env_id, unnest(examples) as other from attempts where accepted) where other in ({})"""
_MADE_OF = """select c.env_id, c.document_id, d.title as document, c.slot_id, c.attempt_id, c.prompt_id, c.cycle_id,
    y.number as cycle from chains as c left join documents as d using (document_id) left join cycles as y
    on y.cycle_id = c.cycle_id where c.env_id in ({})"""
_DATASETS = """select e.env_id, r.dataset_id as id, any_value(d.name) as name, count(*) as count
    from dataset_rows as r join episodes as e using (episode_id) left join datasets as d using (dataset_id)
    where e.env_id in ({}) group by all order by id"""
_CHECKPOINTS = """select t.env_id, c.checkpoint_id as id, any_value('update ' || c.update) as name, count(*) as count
    from train_rows as t join checkpoints as c using (batch_id) where t.env_id in ({}) group by all order by id"""
_KNOWN = """select e.env_id, e.title, avg(s.plain.win_rate) as win_rate
    from environments as e left join scores as s using (env_id) where e.env_id in ({}) group by all"""


@dataclass(frozen=True, slots=True)
class Relative:
    """An environment so many generations away; `win_rate` of plain plays, None where nothing was measured."""

    env_id: str
    title: str
    generations: int
    win_rate: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A dataset or checkpoint that `count` records of the environment went into."""

    id: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Family:
    """One environment's relatives. `made_of` has the columns of its design; empty where the catalog has none."""

    env_id: str
    title: str
    made_of: dict[str, Any]
    ancestors: tuple[Relative, ...] = ()
    descendants: tuple[Relative, ...] = ()
    datasets: tuple[Outcome, ...] = ()
    checkpoints: tuple[Outcome, ...] = ()


def families(catalog: Catalog, env_ids: Sequence[str]) -> list[Family]:
    """The families of several environments, in their order."""
    wanted = list(dict.fromkeys(env_ids))
    if not wanted:
        return []
    up, down = _walked(catalog, _PARENTS, wanted), _walked(catalog, _CHILDREN, wanted)
    others = {other for found in (up, down) for near in found.values() for other in near}
    known = {row["env_id"]: row for row in _rows(catalog, _KNOWN, [*wanted, *others])}
    made = {row["env_id"]: row for row in _rows(catalog, _MADE_OF, wanted)}
    datasets, checkpoints = _rows(catalog, _DATASETS, wanted), _rows(catalog, _CHECKPOINTS, wanted)
    return [
        Family(
            env_id,
            known.get(env_id, {}).get("title") or "",
            made.get(env_id, {}),
            _relatives(up[env_id], known),
            _relatives(down[env_id], known),
            _outcomes(datasets, env_id),
            _outcomes(checkpoints, env_id),
        )
        for env_id in wanted
    ]


def parents(catalog: Catalog, env_ids: Sequence[str]) -> list[str]:
    """The environments that designers of these were shown."""
    return sorted({row["other"] for row in _rows(catalog, _PARENTS, env_ids)})


def _walked(catalog: Catalog, sql: str, roots: Sequence[str]) -> dict[str, dict[str, int]]:
    """For each root the environments reached, with the number of generations: one question a generation."""
    reached: dict[str, dict[str, int]] = {root: {} for root in roots}
    frontier = {root: {root} for root in roots}
    for generation in range(1, GENERATIONS + 1):
        origins = sorted(set().union(*frontier.values()))
        next_to: dict[str, set[str]] = {}
        for row in _rows(catalog, sql, origins):
            next_to.setdefault(row["origin"], set()).add(row["other"])
        for root, edge in frontier.items():
            new = set().union(*(next_to.get(each, set()) for each in edge)) - {root} - reached[root].keys()
            reached[root] |= dict.fromkeys(sorted(new), generation)
            frontier[root] = new
    return reached


def _relatives(near: dict[str, int], known: dict[str, dict[str, Any]]) -> tuple[Relative, ...]:
    rows = [(known.get(other, {}), other, generation) for other, generation in near.items()]
    found = [Relative(other, r.get("title") or "", generation, r.get("win_rate")) for r, other, generation in rows]
    return tuple(sorted(found, key=lambda relative: (relative.generations, relative.env_id))[:MOST])


def _outcomes(rows: list[dict[str, Any]], env_id: str) -> tuple[Outcome, ...]:
    return tuple(Outcome(r["id"], r["name"] or "", r["count"]) for r in rows if r["env_id"] == env_id)


def _rows(catalog: Catalog, sql: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    return catalog.query(sql.format(", ".join("?" * len(ids))), list(ids)) if ids else []
