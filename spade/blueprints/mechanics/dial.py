"""Dial: numbers are called one by one and turn a hidden dial by a stated rule; after each, say where it stands.

Every answer follows from the last answer and the last two numbers, so what is hard is to keep track for long.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

RULES = {
    "on": "each number moves it on by so many places",
    "sway": "the first number moves it on by so many places, the second back, and so in turn",
    "rise": "each number moves it on by so many places, one that is bigger than the number before by one more",
}
BIGGEST = 3
"""The biggest number called."""


def _menu(blueprint: Blueprint) -> tuple[str, ...]:
    return blueprint.things[: blueprint.number("places")]


def _method(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("rule"):
        case "on":
            return ("Start from your last answer and go on by the new number.", "Your last answer is all you need.")
        case "sway":
            return ("Start from your last answer; go on and back in turn.", "Odd turns go on, even turns go back.")
    return ("Compare the new number with the one before.", "An equal number is no rise; the first number is none.")


DIAL = Mechanic(
    name="dial",
    setting=Setting.GAMES,
    skills=(Skill.MATHEMATICAL_REASONING, Skill.SPATIAL_REASONING),
    says="say where a hidden dial stands while called numbers turn it by a stated rule",
    knobs=(
        Knob("rule", tuple(RULES), "how numbers turn it"),
        Knob("places", numbers(3, 4, 5), "places on the dial"),
        Knob("count", numbers(*range(2, 13)), "how many numbers are called"),
        Knob("slack", numbers(0, 1, 2), "wrong answers forgiven"),
    ),
    actions=_menu,
    plans={
        "method": _method,
        "round": lambda _: (
            "After the last place comes the first again.",
            "Going back from the first place leads to the last.",
        ),
        "listen": lambda _: ("Keep the last number in mind.", "Keep your last answer in mind."),
    },
    derived=lambda blueprint: {
        "menu": list(_menu(blueprint)),
        "said": RULES[blueprint.word("rule")],
        "biggest": BIGGEST,
        "turns": blueprint.number("count") + blueprint.number("slack") + 1,
    },
    easy=False,
)
