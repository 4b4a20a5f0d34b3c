"""Reasoning-Gym instead of a designer: its datasets are dealt to the slots, each at a level of a window of its own."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spade.attempts import Prompt
from spade.dealing import Dealt
from spade.designing import Brief, Draft
from spade.environments import Environment
from spade.errors import Skip
from spade.identity import digest, rng_for
from spade.messages import Completion, Message, Request, Role
from spade.prompting import render, template_hash
from spade.slots import Slot
from spade.verdicts import Verdict
from spade.windows import Climbing, window_after
from spade.wrapping import questions_of, wrapped

TITLE = "Reasoning-Gym {}"
"""An environment's title; with its mechanic it tells the dataset and the level of its plays."""
MECHANIC = "level {}"
PROGRAMS = 32
"""Questions in one program."""
_ASKED = re.compile(r"Deal (\w+) at level (\d+)")
_ABOUT = re.compile(r'"""Reasoning-Gym (\w+), level (\d+):')

Plays = Callable[[str, str], Sequence[tuple[int, bool]]]
"""The plays of a dataset (level, won), oldest first, without those of the named cycle: they come while it is dealt."""
Tasks = Callable[[str, int, int, int], Awaitable[Sequence[tuple[str, str]]]]
"""Questions and answers of a dataset at a level, from a seed: so many."""


@dataclass(frozen=True)
class GymDesigner(Dealt):
    """Implements `spade.designing.Designer`. `datasets` names each dataset's highest level; a cycle's slots get
    different ones, in an order that the cycle's name draws, at a level drawn from the window that its plays so far
    open."""

    datasets: Mapping[str, int]
    plays: Plays
    version: str
    rule: Climbing = field(default_factory=Climbing)

    def prompt(self, brief: Brief) -> Prompt:
        slot, names = brief.slot, sorted(self.datasets)
        rng_for(0, slot.cycle_id, "gym").shuffle(names)
        name = names[slot.index % len(names)]
        window = window_after(self.plays(name, slot.cycle_id), self.datasets[name], self.rule)
        level = rng_for(slot.seed, "level").randint(window.low, window.high)
        text = f"Deal {name} at level {level} of {window.low} to {window.high}."
        return Prompt(Role.DESIGNER, (Message("user", text),), "gym", digest(self.version)[:12])

    def hint_prompt(self, environment: Environment, design: str, rejected: Verdict | None) -> Prompt:
        """Asks with one question and without the program, which holds many and may outgrow a small model's context."""
        question = next(iter(questions_of(environment.code)), "")
        words = self.code.max_hint_words
        text = render("hint_question.j2", question=question, rejected=rejected, max_words=words)
        return Prompt(Role.HINT, (Message("user", text),), "hint_question", template_hash("hint_question.j2"))

    def read(self, text: str, slot: Slot) -> Draft:
        draft, about = self.code.read(text, slot), _ABOUT.search(text)
        if draft.environment is None or about is None:
            return draft
        named = replace(draft.environment, title=TITLE.format(about[1]), mechanic=MECHANIC.format(about[2]))
        return replace(draft, environment=named)


@dataclass(frozen=True)
class GymModel:
    """Implements `spade.ports.Model` for the designer's role: answers with a program that holds new questions."""

    tasks: Tasks
    version: str
    name: str = "reasoning-gym"

    @property
    def weights(self) -> str:
        return f"reasoning-gym-{self.version}"

    async def complete(self, request: Request) -> Completion:
        """Where the package has no question at that level the reply says so and holds no program: a refused attempt,
        counted like any other. Raises `Skip` for a request that is not this designer's."""
        asked = _ASKED.search(request.messages[-1].content)
        if asked is None:
            raise Skip("Reasoning-Gym deals its questions and answers nothing else.")
        dataset, level = asked[1], int(asked[2])
        try:
            pairs = await self.tasks(dataset, level, request.sampling.seed or 0, PROGRAMS)
        except Skip as error:
            return Completion(f"{dataset} has no questions at level {level}: {error}", self.name, self.weights)
        return Completion(f"```python\n{wrapped(dataset, level, pairs)}\n```", self.name, self.weights)
