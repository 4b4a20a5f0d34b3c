"""Suites by name: `NAME` or `NAME:option=value,option=value`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.acebench import AceBench
from data.benchmarks.aime import Aime
from data.benchmarks.bfcl import Bfcl
from data.benchmarks.gpqa import Gpqa
from data.benchmarks.held_out import HeldOut
from data.benchmarks.livecodebench import LiveCodeBench
from data.benchmarks.official import Tau2
from data.benchmarks.reasoning_gym import ReasoningGym
from data.benchmarks.textarena import TextArena
from data.catalog import Catalog
from spade.errors import Abort
from spade.evaluating import Suite
from spade.ports import Sandbox


@dataclass(frozen=True, slots=True)
class Place:
    """What suites are made with: where packages and data lie, what is stored, and where programs run."""

    environments: Path
    data: Path
    catalog: Catalog
    sandbox: Sandbox | None = None

    @property
    def cell(self) -> Sandbox:
        """The sandbox. Raises `Abort` where none was opened."""
        if self.sandbox is None:
            raise Abort("this suite marks answers in the sandbox, and none is open.")
        return self.sandbox


Given = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """How one suite is made of its options; `options` names them with what they may be."""

    make: Callable[[Place, Given], Suite]
    says: str
    options: Mapping[str, str]
    sandboxed: bool = False
    """Whether it needs the sandbox."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A suite as it was asked for."""

    name: str
    options: Mapping[str, str]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The options that change what is measured: where a file lies does not, since the version names its bytes."""
        return tuple(sorted((name, value) for name, value in self.options.items() if name != "path"))

    @property
    def sandboxed(self) -> bool:
        return SUITES[self.name].sandboxed


def _number(given: Given, name: str, default: float) -> float:
    try:
        return float(given.get(name, default))
    except ValueError:
        raise Abort(f"{name}={given[name]} is no number.", "Write one, such as 0.1.") from None


def _held_out(place: Place, given: Given) -> Suite:
    return HeldOut(place.catalog, place.cell, _number(given, "share", 0.1), int(_number(given, "seed", 0)))


PATH = {"path": "a file of your own"}
SUITES: Mapping[str, Entry] = {
    "reasoning-gym": Entry(
        lambda place, given: ReasoningGym(place.environments, given.get("level", "hard")),
        "100 kinds of generated reasoning tasks: math, algorithmic, cognition, logic",
        {"level": "hard or easy"},
    ),
    "bfcl": Entry(
        lambda place, given: Bfcl(place.environments, given.get("mode", "prompt"), given.get("docs", "json")),
        "BFCL v4 multi-turn: requests over several turns, served by calls of stateful tools",
        {"mode": "prompt or calls", "docs": "json, python or xml: how functions are written in the prompt"},
    ),
    "textarena": Entry(lambda place, given: TextArena(place.environments), "games for one player over many turns", {}),
    "aime": Entry(
        lambda place, given: Aime(given.get("year", "2025"), place.data, given.get("path", ""), place.cell),
        "AIME 2025 and 2026: competition problems with whole numbers as answers",
        {"year": "2025 or 2026", **PATH},
        sandboxed=True,
    ),
    "gpqa-diamond": Entry(
        lambda place, given: Gpqa(place.data, given.get("path", "")), "graduate questions with four choices", PATH
    ),
    "livecodebench": Entry(
        lambda place, given: LiveCodeBench(place.data, given.get("path", ""), place.cell),
        "LiveCodeBench v6: programs against hidden tests, in the sandbox",
        PATH,
        sandboxed=True,
    ),
    "tau2": Entry(lambda place, given: Tau2(given.get("path", "")), "tau2-bench, from its own runner's file", PATH),
    "acebench": Entry(
        lambda place, given: AceBench(given.get("path", "")),
        "ACEBench-Agent, from its own runner's score files",
        {"path": "the folder of a model's score files"},
    ),
    "held-out": Entry(
        _held_out,
        "this factory's own environments of held-out documents and clusters, both arms",
        {"share": "of the documents, 0.1 if not given", "seed": "of the split"},
        sandboxed=True,
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
