"""What the blueprint benchmark tells: an environment and its score a row, and their figures together."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One accepted environment and its score."""

    mechanic: str
    skill: str
    title: str
    knobs: dict[str, Any]
    hint: str
    attempts: int
    plain: float | None
    hinted: float | None
    regret: float | None
    turns: float


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of what was measured; None where nothing was."""
    measured = [value for value in values if value is not None]
    return round(fmean(measured), 3) if measured else None


UNITS = {
    "slots": "slots",
    "accepted": "environments",
    "first_try": "environments",
    "skills": "skills",
    "in_band": "environments",
    "regret_above_0": "environments",
    "mean_regret": "return",
    "seconds": "s",
}


def printed(result: dict[str, Any]) -> None:
    for key in (*UNITS, "rejections"):
        print(f"{key:15} {result[key]}")
    for name, row in result["mechanics"].items():
        print(f"{name:15} {row}")
    for row in result["environments"]:
        print(
            f"{row['mechanic']:13} plain {_shown(row['plain'])} hinted {_shown(row['hinted'])} "
            f"turns {row['turns']:4.1f} tries {row['attempts']} {row['knobs']} {row['title']} | {row['hint']}"
        )


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
