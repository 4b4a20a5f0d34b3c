"""One attempt at a slot: prompt, completion, program. The gates judge it elsewhere.

Two designers stand behind one port: in code mode the model writes the program, in blueprint mode it fills a guided form
that compiles to one. Nothing after this module knows which it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spade.attempts import Attempt, Prompt
from spade.documents import Document
from spade.environments import Environment
from spade.feedback import refusal
from spade.lessons import Lessons
from spade.messages import Guide
from spade.slots import Slot
from spade.verdicts import Verdict

MAX_ATTEMPTS = 6
"""One try and up to five retries (arXiv 2608.19197)."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A refused attempt as the next prompt shows it: which gate, why, and the program if there was one."""

    gate: str
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reply holds: an environment, or the verdict that says why there is none.

    `broken` is a program that does not parse, kept for the next prompt.
    """

    environment: Environment | None = None
    repairs: tuple[str, ...] = ()
    problem: Verdict | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a designer is told: the slot, its document, what earlier environments taught, and what the slot's last
    attempt did wrong. `refused` are the slot's earlier replies, oldest first: a guided designer does not offer them
    again."""

    slot: Slot
    document: Document | None = None
    lessons: Lessons = field(default_factory=Lessons)
    rejected: Rejection | None = None
    refused: Sequence[str] = ()


class Designer(Protocol):
    """How environments and hints are asked for and read, in one mode."""

    def prompt(self, brief: Brief) -> Prompt:
        """What the model is asked."""
        ...

    def guide(self, brief: Brief) -> Guide | None:
        """What a design must look like while it is decoded; None lets the model write freely."""
        ...

    def read(self, text: str, slot: Slot) -> Draft: ...

    def hint_prompt(self, environment: Environment, design: str, rejected: Verdict | None) -> Prompt:
        """`design` is the reply that became the environment; `rejected` what was wrong with the last hint."""
        ...

    def hint_guide(self, environment: Environment, design: str) -> Guide | None: ...

    def read_hint(self, text: str) -> str: ...


def rejection_of(attempt: Attempt, draft: Draft) -> Rejection:
    """What the next prompt says of a refused attempt."""
    verdict = refusal(attempt)
    message = verdict.message if verdict else ""
    return Rejection(attempt.rejected_by, message, draft.environment.code if draft.environment else draft.broken)
