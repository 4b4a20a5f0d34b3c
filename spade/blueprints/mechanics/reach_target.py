"""Arithmetic chain: bring a number to targets with a few buttons that add, take away or double.

Targets are made by pressing buttons from the number before, so each can be reached; the presses allowed are those of
the shortest ways plus `slack`. No single button repeated reaches all targets.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

BUTTONS: dict[str, dict[str, tuple[int, int]]] = {
    "step": {"add 1": (1, 1), "add 2": (1, 2), "take 1": (1, -1)},
    "small": {"add 1": (1, 1), "add 3": (1, 3), "take 2": (1, -2)},
    "big": {"add 7": (1, 7), "add 2": (1, 2), "take 5": (1, -5)},
    "double": {"double": (2, 0), "add 1": (1, 1), "take 3": (1, -3)},
}
"""What each button does to a number: times the first, plus the second."""


def _buttons(blueprint: Blueprint) -> dict[str, tuple[int, int]]:
    return BUTTONS[blueprint.word("buttons")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {"turns": 25, "labels": _buttons(blueprint)}


REACH_TARGET = Mechanic(
    name="reach_target",
    setting=Setting.GAMES,
    skills=(Skill.MATHEMATICAL_REASONING, Skill.OPTIMIZATION, Skill.PATTERN_RECOGNITION),
    says="bring a number to a target with buttons that add, take or double",
    knobs=(
        Knob("buttons", ("step", "small", "big", "double"), "what the buttons do"),
        Knob("targets", numbers(3, 4), "how many targets in a row"),
        Knob("presses", numbers(1, 2, 3), "presses between targets"),
        Knob("slack", numbers(0, 3, 6), "spare presses"),
    ),
    actions=lambda blueprint: tuple(_buttons(blueprint)),
    plans={
        "gap": lambda _: (
            "See how far the target is and press the button that closes most of the gap.",
            "Below the target, add; above it, take.",
        ),
        "backwards": lambda _: (
            "Think back from the target: which number is one press away from it?",
            "Come near with the big button, then finish with the small ones.",
        ),
        "change": lambda _: (
            "Do not press one button all the time: the way needs different ones.",
            "After one button try another.",
        ),
    },
    derived=_derived,
    easy=False,
)
