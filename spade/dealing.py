"""A fixed pool instead of a designer: programs of a folder are dealt to the slots, and no model writes anything."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spade.attempts import Prompt
from spade.designing import Brief, Draft
from spade.environments import Environment
from spade.errors import Skip
from spade.identity import digest, rng_for
from spade.messages import Completion, Guide, Message, Request, Role
from spade.prompting import CodeDesigner
from spade.slots import Slot
from spade.verdicts import Verdict

_ASKED = re.compile(r"program (\d+) of ")


@dataclass(frozen=True, kw_only=True)
class Dealt:
    """What designers share that deal programs: each is read, and by default its hint written, as any other."""

    code: CodeDesigner = field(default_factory=CodeDesigner)

    def guide(self, brief: Brief) -> Guide | None:
        return None

    def read(self, text: str, slot: Slot) -> Draft:
        return self.code.read(text, slot)

    def hint_prompt(self, environment: Environment, design: str, rejected: Verdict | None) -> Prompt:
        return self.code.hint_prompt(environment, design, rejected)

    def hint_guide(self, environment: Environment, design: str) -> Guide | None:
        return None

    def read_hint(self, text: str) -> str:
        return self.code.read_hint(text)


@dataclass(frozen=True)
class PoolDesigner(Dealt):
    """Implements `spade.designing.Designer`: a cycle's slots get different programs, in an order that the cycle's name
    draws. A program keeps the skill of its slot; its hint is written by the model as for any other."""

    programs: Sequence[str]

    def prompt(self, brief: Brief) -> Prompt:
        slot, order = brief.slot, list(range(len(self.programs)))
        rng_for(0, slot.cycle_id, "pool").shuffle(order)
        text = f"Deal program {order[slot.index % len(order)]} of {len(order)}."
        return Prompt(Role.DESIGNER, (Message("user", text),), "pool", pool_digest(self.programs))


@dataclass(frozen=True)
class PoolModel:
    """Implements `spade.ports.Model` for the designer's role: answers with the program that the prompt names."""

    programs: Sequence[str]
    name: str = "pool"

    @property
    def weights(self) -> str:
        """Names the pool's programs."""
        return f"pool-{pool_digest(self.programs)}"

    async def complete(self, request: Request) -> Completion:
        asked = _ASKED.search(request.messages[-1].content)
        if asked is None:
            raise Skip("a pool deals programs and answers nothing else.")
        return Completion(f"```python\n{self.programs[int(asked[1])]}\n```", self.name, self.weights)


def pool_digest(programs: Sequence[str]) -> str:
    """12 hex digits that name a pool."""
    return digest("\0".join(programs))[:12]
