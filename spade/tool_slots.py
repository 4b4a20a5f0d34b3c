"""What a tool-use slot asks for besides its skill: a domain and a variant of its requests, drawn by the slot's seed."""

from dataclasses import dataclass

from spade.identity import rng_for
from spade.slots import Slot

DOMAINS = (
    "loans and reservations of a library",
    "appointments of a veterinary practice",
    "rooms and services of a small hotel",
    "parcels of a delivery depot",
    "courses and rooms of an evening school",
    "stock and orders of a hardware store",
    "machines and shifts of a workshop",
    "seats and refunds of a theatre's box office",
    "plots and tools of an allotment garden",
    "objects and loans of a museum's archive",
)
"""Ten domains; a slot's document may suggest a better one."""

VARIANTS = {
    "plain": "Make the requests plain: each wants one thing changed, and what the change needs can be looked up.",
    "conditional": (
        "Make at least one request depend on what is found: it says what to do if a value that must be read first is "
        "so, and what to do if it is not. Over the seeds both cases occur."
    ),
    "lookup": (
        "Make at least one request need a value that takes two calls to find: one tool reveals a key, another one "
        "needs it to reveal the value, and only then the change can be made."
    ),
    "decline": (
        "Make exactly one request impossible (criterion `None`): it sounds like the others, and only one who reads the "
        "tools sees that none of them can do it."
    ),
}
"""How the requests of one slot differ from those of another (docs/method.md)."""


@dataclass(frozen=True, slots=True)
class ToolTask:
    """`variant` is a key of `VARIANTS`."""

    domain: str
    variant: str

    @property
    def wanted(self) -> str:
        """The variant in words for the designer."""
        return VARIANTS[self.variant]


def tool_task(slot: Slot) -> ToolTask:
    rng = rng_for(slot.seed, "tool task")
    return ToolTask(rng.choice(DOMAINS), rng.choice(tuple(VARIANTS)))
