"""What is designed and played: blueprint environments of three mechanics, some cells of which no designer may choose.

A design is one line, `doors old 3 7 0 first`: mechanic, knobs in their order, plan of the hint. The designer is the
blueprint designer with a shorter prompt; compiling, gates and sandbox are the factory's own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random

from spade.attempts import Prompt
from spade.blueprints import MECHANICS, Blueprint, BlueprintDesigner, compile_blueprint
from spade.blueprints.mechanic import Knob, Value
from spade.designing import Brief, Draft
from spade.environments import Environment
from spade.identity import digest
from spade.messages import Guide, Message, Role
from spade.skills import GAME_SKILLS, Setting, Skill
from spade.slots import Slot
from spade.verdicts import Status, Verdict

NAMES = ("doors", "dial", "guess_number")
THEMES = {"doors": "garden", "grid_walk": "forest"}
THEME = "school"
"""Where the others are set."""
SIZE = dict(zip(NAMES, ("doors", "count", "top"), strict=True))
"""The knob that makes an environment long or large."""
KEPT: dict[str, dict[str, tuple[Value, ...]]] = {
    "doors": {"slack": (0,)},
    "dial": {"slack": (0,)},
    "guess_number": {"top": (5, 8, 12, 20), "rounds": (2,)},
}
"""Values of knobs that are played here, where not all are."""
HELD = 5
"""One cell in this many is held out of every design, and is what the agent is evaluated on."""
BUCKETS = 5
"""Win rates in a prompt are told in fifths."""


def size_at(mechanic: str) -> int:
    """The place of a mechanic's size among its knobs."""
    return [knob.name for knob in MECHANICS[mechanic].knobs].index(SIZE[mechanic])


@dataclass(frozen=True, slots=True)
class Cell:
    """One blueprint without its texts: a mechanic and its knobs."""

    mechanic: str
    values: tuple[Value, ...]

    @property
    def text(self) -> str:
        return " ".join((self.mechanic, *map(str, self.values)))

    @property
    def family(self) -> str:
        """Mechanic, first knob and size: what its win rate is held against."""
        return f"{self.mechanic} {self.values[0]} {self.values[size_at(self.mechanic)]}"

    @property
    def held(self) -> bool:
        return int(digest(self.text)[:8], 16) % HELD == 0

    @property
    def plans(self) -> tuple[str, ...]:
        """The ways its hint may be written."""
        return tuple(MECHANICS[self.mechanic].plans)

    def environment(self, plan: str = "") -> Environment:
        mechanic = MECHANICS[self.mechanic]
        knobs = tuple(zip((k.name for k in mechanic.knobs), self.values, strict=True))
        plan = plan or next(iter(mechanic.plans))
        theme = THEMES.get(self.mechanic, THEME)
        blueprint = Blueprint(self.mechanic, knobs, theme, "A game", "Play this game well.", plan)
        return compile_blueprint(blueprint, Setting.GAMES, mechanic.skills[0])

    def hint(self, plan: str) -> str:
        mechanic = MECHANICS[self.mechanic]
        knobs = tuple(zip((k.name for k in mechanic.knobs), self.values, strict=True))
        theme = THEMES.get(self.mechanic, THEME)
        blueprint = Blueprint(self.mechanic, knobs, theme, "A game", "Play this game well.", plan)
        return " ".join(mechanic.plans[plan](blueprint))


def values(mechanic: str, knob: Knob) -> tuple[Value, ...]:
    """What a knob may be set to here."""
    return KEPT.get(mechanic, {}).get(knob.name, knob.values)


@cache
def cells(mechanic: str = "") -> tuple[Cell, ...]:
    """Every cell of a mechanic, or of all that are played here."""
    names = (mechanic,) if mechanic else NAMES
    return tuple(Cell(n, tuple(v)) for n in names for v in product(*(values(n, k) for k in MECHANICS[n].knobs)))


SERVES = {
    "doors": (Skill.PATTERN_RECOGNITION, Skill.CAUSAL_INFERENCE),
    "dial": (Skill.MATHEMATICAL_REASONING, Skill.SPATIAL_REASONING),
    "guess_number": (Skill.LOGICAL_DEDUCTION, Skill.OPTIMIZATION),
}
"""Two skills a mechanic, so that each gets a third of the slots."""
SKILLS = tuple(skill for skill in GAME_SKILLS if any(skill in served for served in SERVES.values()))


@cache
def open_cells(skill: Skill) -> tuple[Cell, ...]:
    """What a designer may choose for a skill."""
    return tuple(c for n in NAMES if skill in SERVES[n] for c in cells(n) if not c.held)


@cache
def designs(skill: Skill) -> tuple[str, ...]:
    """Every line a designer may write for a skill."""
    return tuple(f"{c.text} {plan}" for c in open_cells(skill) for plan in MECHANICS[c.mechanic].plans)


def even_design(skill: Skill, rng: Random) -> str:
    """A line drawn evenly over cells, then over plans."""
    cell = rng.choice(open_cells(skill))
    return f"{cell.text} {rng.choice(list(MECHANICS[cell.mechanic].plans))}"


def read_design(text: str) -> tuple[Cell, str]:
    """Cell and plan of a line. Raises `ValueError` when it is none."""
    name, *words = text.split()
    mechanic = MECHANICS[name]
    *set_to, plan = words
    read = []
    for knob, word in zip(mechanic.knobs, set_to, strict=True):
        read.append(next(v for v in values(name, knob) if str(v) == word))
    if plan not in mechanic.plans:
        raise ValueError(f"{plan!r} is no plan of {name}")
    return Cell(name, tuple(read)), plan


@dataclass(frozen=True, slots=True)
class Told:
    """One earlier environment as a prompt tells of it."""

    text: str
    win_rate: float

    @property
    def line(self) -> str:
        return f"tried {self.text} won {min(BUCKETS - 1, int(self.win_rate * BUCKETS))}"


def design_messages(skill: Skill, told: Sequence[Told]) -> tuple[Message, ...]:
    """What the designer is asked."""
    return (Message("user", "\n".join([*(t.line for t in told), f"design {skill}"])),)


class TerseDesigner(BlueprintDesigner):
    """The blueprint designer for models that read a few dozen tokens."""

    def prompt(self, brief: Brief) -> Prompt:
        told = [Told(f"{e.environment.title}", e.win_rate) for e in brief.lessons.examples]
        return Prompt(Role.DESIGNER, design_messages(brief.slot.skill, told), "coevolution/design", "0")

    def guide(self, brief: Brief) -> Guide:
        return Guide(choices=designs(brief.slot.skill))

    def read(self, text: str, slot: Slot) -> Draft:
        try:
            cell, plan = read_design(text)
        except (ValueError, KeyError, StopIteration) as error:
            return Draft(problem=Verdict("form.parse", Status.FAIL, f"no design: {error!r}"))
        return Draft(environment=cell.environment(plan))


def evaluation_items(count: int, seed: int = 77) -> list[tuple[Cell, int]]:
    """Held-out cells, evenly over mechanics, each with instance seeds that no training play has."""
    rng = Random(seed)
    held = {n: [c for c in cells(n) if c.held] for n in NAMES}
    return [(rng.choice(held[NAMES[i % len(NAMES)]]), 2**31 + rng.randrange(2**30)) for i in range(count)]


def corpus_words() -> Iterator[str]:
    """Words that stand as one token each: names, knob values, plans, skills, actions."""
    for name in NAMES:
        mechanic = MECHANICS[name]
        yield name
        for knob in mechanic.knobs:
            yield from (f" {v}" for v in values(name, knob))
        yield from (f" {plan}" for plan in mechanic.plans)
        for cell in cells(name):
            guide = cell.environment().guide
            yield from guide.choices if guide else ()
    yield from (f"design {skill}" for skill in SKILLS)
    yield from (f" won {n}" for n in range(BUCKETS))
    yield "tried "
