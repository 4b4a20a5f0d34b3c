"""Causal probing: levers switch lamps through hidden wires; light every lamp.

Each lever turns over its own hidden set of lamps. Every instance needs at least three
levers, found by search over all sets of levers; some levers do nothing.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

LEVERS = ("red", "blue", "green", "white", "black", "yellow", "brown")


def _levers(blueprint: Blueprint) -> tuple[str, ...]:
    return LEVERS[: blueprint.number("lamps") + blueprint.number("dead")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "levers": list(_levers(blueprint)),
        "lamps": list(blueprint.things[: blueprint.number("lamps")]),
        "lamps_per_lever": blueprint.number("wires"),
        "turns": 2 * blueprint.number("lamps") + blueprint.number("dead") + blueprint.number("slack"),
    }


LIGHTS = Mechanic(
    name="lights",
    setting=Setting.GAMES,
    skills=(Skill.CAUSAL_INFERENCE, Skill.LOGICAL_DEDUCTION),
    says="find out which lever switches which lamps and light them all",
    knobs=(
        Knob("lamps", numbers(4, 5), "how many lamps", easy=numbers(4)),
        Knob("wires", numbers(1, 2), "lamps one lever switches"),
        Knob("dead", numbers(1, 2), "levers that do nothing"),
        Knob("slack", numbers(0, 2, 4), "spare pulls", easy=numbers(0, 2)),
    ),
    actions=_levers,
    plans={
        "try_each": lambda _: (
            "Pull every lever once and watch what changes.",
            "Do not pull the same lever twice in a row.",
        ),
        "keep": lambda _: (
            "When a pull puts a lamp out, pull that lever again later.",
            "A lever that lights a lamp has done its work: go to another one.",
        ),
        "dead": lambda _: (
            "Some levers do nothing: leave those.",
            "A lever that changed nothing will never change anything.",
        ),
    },
    derived=_derived,
)
