"""What a mechanic is: knobs the designer turns, a program template, a guide for actions, and plans for hints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from spade.blueprints.themes import THEMES
from spade.messages import Guide
from spade.skills import Setting, Skill

Value: TypeAlias = int | str
"""What a knob is set to."""
Reach: TypeAlias = Literal["easy", "all"]
"""Which mechanics and values a designer may choose from."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One choice of the designer. `values` is every value it may take, `easy` those a model of a hundred million
    parameters can win with (empty: all of them); `says` tells the designer what it does."""

    name: str
    values: tuple[Value, ...]
    says: str
    easy: tuple[Value, ...] = ()

    def offered(self, reach: Reach) -> tuple[Value, ...]:
        return self.easy if reach == "easy" and self.easy else self.values


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What the designer chose. `knobs` stands in the mechanic's order."""

    mechanic: str
    knobs: tuple[tuple[str, Value], ...]
    theme: str
    title: str
    story: str
    plan: str

    @property
    def things(self) -> tuple[str, ...]:
        """The theme's six words: rooms, levers, items or suspects of the environment."""
        return THEMES[self.theme]

    def __getitem__(self, knob: str) -> Value:
        return dict(self.knobs)[knob]

    def number(self, knob: str) -> int:
        """A knob that counts something."""
        value = self[knob]
        if not isinstance(value, int):
            raise TypeError(f"knob {knob!r} of {self.mechanic!r} is not a number")
        return value

    def word(self, knob: str) -> str:
        """A knob that names something."""
        return str(self[knob])


@dataclass(frozen=True, slots=True)
class Mechanic:
    """One family of environments.

    `actions(blueprint)` lists every legal action (the guide's choices). `plans` maps each plan to the sentences a hint
    of that plan may say for this blueprint; they are true of every instance and name no instance's solution.
    `derived(blueprint)` adds values the template needs beside the knobs. `easy`: offered to the smallest models too.
    The template lies beside the module, in `<name>.py.j2`.
    """

    name: str
    setting: Setting
    skills: tuple[Skill, ...]
    says: str
    knobs: tuple[Knob, ...]
    actions: Callable[[Blueprint], tuple[str, ...]]
    plans: Mapping[str, Callable[[Blueprint], tuple[str, ...]]]
    derived: Callable[[Blueprint], Mapping[str, object]] = field(default=lambda _: {})
    easy: bool = True

    def guide(self, blueprint: Blueprint) -> Guide:
        r"""Each legal action inside `\boxed{}`, nothing else."""
        return Guide(choices=tuple(f"\\boxed{{{action}}}" for action in self.actions(blueprint)))


def numbers(*values: int) -> tuple[Value, ...]:
    """The values of a counting knob."""
    return values
