"""The paper's figures for each skill and each domain of a run: where it stands well, and where it does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from spade.quality import Made, Quality, figures

SHOWN = (
    "raw executability", "well-posedness", "verifiability", "learnable-band share", "distinct reward levels",
    "answer or formula printed at reset", "lines", "state variables", "turns", "regret",
)  # fmt: skip
"""The figures of `spade.quality` that are told apart by group, in the order of the columns."""
MOST = 12
"""Groups in a table; the smaller ones are taken together."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One skill or domain: how many environments were accepted in it, their mean plain win rate (None where nothing was
    played), and the figures `SHOWN`."""

    name: str
    environments: int
    win_rate: float | None
    figures: tuple[Quality, ...]


def divided(made: Made, groups: Mapping[str, str]) -> list[GroupFigures]:
    """A line a group, those with most environments first. `groups` names the group of each slot; an environment belongs
    to the group of the slot that it was accepted in, wherever it is played."""
    parts = [(name, _part(made, groups, {name})) for name in dict.fromkeys(groups.values())]
    parts.sort(key=lambda part: (-len(part[1].environments), part[0]))
    rest = {name for name, _ in parts[MOST:]}
    shown = parts[:MOST] + ([(f"{len(rest)} others", _part(made, groups, rest))] if rest else [])
    return [_line(name, part) for name, part in shown]


def _part(made: Made, groups: Mapping[str, str], names: set[str]) -> Made:
    attempts = [a for a in made.attempts if groups.get(a.slot_id) in names]
    accepted = {a.env_id for a in attempts if a.accepted}
    return replace(
        made,
        attempts=attempts,
        environments=[e for e in made.environments if e.env_id in accepted],
        scores=[s for s in made.scores if s.env_id in accepted],
        plays=[p for p in made.plays if p.env_id in accepted],
        vendi=None,
        vendi_n=0,
    )


def _line(name: str, made: Made) -> GroupFigures:
    by_name = {figure.name: figure for figure in figures(made)}
    rates = [s.plain.win_rate for s in made.scores if s.plain.win_rate is not None]
    return GroupFigures(
        name, len(made.environments), fmean(rates) if rates else None, tuple(by_name[each] for each in SHOWN)
    )


def papers() -> Sequence[str]:
    """What the paper says of the figures `SHOWN`, empty where it says nothing; it gives no figure by skill."""
    by_name = {figure.name: figure.paper for figure in figures(Made())}
    return [by_name[each] for each in SHOWN]
