"""Suites by name: `NAME` or `NAME:option=value,option=value`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.bfcl import Bfcl
from data.benchmarks.reasoning_gym import ReasoningGym
from spade.errors import Abort
from spade.evaluating import Suite


@dataclass(frozen=True, slots=True)
class Place:
    """What suites are made with: where packages and data lie."""

    environments: Path
    data: Path


@dataclass(frozen=True, slots=True)
class Entry:
    """How one suite is made of its options; `options` names them with what they may be."""

    make: Callable[[Place, Mapping[str, str]], Suite]
    options: Mapping[str, str]
    says: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A suite as it was asked for."""

    name: str
    options: Mapping[str, str]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.options.items()))


SUITES: Mapping[str, Entry] = {
    "reasoning-gym": Entry(
        lambda place, given: ReasoningGym(place.environments, given.get("level", "hard")),
        {"level": "hard or easy"},
        "100 kinds of generated reasoning tasks: math, algorithmic, cognition, logic",
    ),
    "bfcl": Entry(
        lambda place, given: Bfcl(place.environments, given.get("mode", "prompt")),
        {"mode": "prompt or calls"},
        "BFCL v4 multi-turn: requests over several turns, served by calls of stateful tools",
    ),
}


def wanted(text: str) -> Wanted:
    """Read `NAME:option=value,...`. Raises `Abort` naming what there is."""
    name, _, rest = text.partition(":")
    if name not in SUITES:
        raise Abort(f"There is no suite {name!r}.", f"Use one of {', '.join(SUITES)}.")
    known = SUITES[name].options
    options = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    for option, value in options.items():
        if option not in known or not value:
            listed = ", ".join(f"{key}={what}" for key, what in known.items()) or "none"
            raise Abort(f"The suite {name} has no option {option!r} with a value.", f"Its options: {listed}.")
    return Wanted(name, options)


def open_suite(asked: Wanted, place: Place) -> Suite:
    """The suite; nothing is started before its first question. Raises `Abort` for an option's wrong value."""
    return SUITES[asked.name].make(place, asked.options)
