"""What earlier cycles taught: the part of the memory that a designer's prompt shows (docs/method.md)."""

from dataclasses import dataclass

from spade.environments import Environment


@dataclass(frozen=True, slots=True)
class Example:
    """A whole environment of the same skill that taught well: learn its structure, make a different one.

    `win_rate` in [0, 1]; `regret` signed, None where it was not measured.
    """

    environment: Environment
    win_rate: float
    regret: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """One line on an environment that teaches no more, or not yet. `mechanic` says in a few words how it works."""

    title: str
    mechanic: str
    win_rate: float


@dataclass(frozen=True, slots=True)
class Lessons:
    """All that the memory has to say for one slot; empty in the first cycle."""

    examples: tuple[Example, ...] = ()
    mastered: tuple[Summary, ...] = ()
    out_of_reach: tuple[Summary, ...] = ()
