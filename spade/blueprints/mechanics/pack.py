"""Resource planning: put things with weight and worth into a bag that carries so much; reach a worth.

Saying a thing puts it in or takes it out. The worth asked for is a share of the best possible, found over all sets of
things; at least three things are needed, and every instance has some greedy trap or none, as the seed will.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "items": list(blueprint.things),
        "turns": len(blueprint.things) + blueprint.number("slack"),
    }


PACK = Mechanic(
    name="pack",
    setting=Setting.GAMES,
    skills=(Skill.OPTIMIZATION, Skill.MATHEMATICAL_REASONING),
    says="pack a bag to a worth without making it too heavy",
    knobs=(
        Knob("share", numbers(85, 92, 100), "percent of the best worth that is asked for"),
        Knob("slack", numbers(0, 2, 4), "spare turns"),
        Knob("weights", ("light", "heavy"), "how different the weights are"),
    ),
    actions=lambda blueprint: blueprint.things,
    plans={
        "best_first": lambda _: (
            "Take what is worth much and weighs little.",
            "Compare worth and weight of each thing before you pack.",
        ),
        "take_out": lambda _: (
            "When the bag is too heavy, take out what is worth least for its weight.",
            "Saying a packed thing again takes it out.",
        ),
        "no_repeat": lambda _: (
            "Do not say the same thing twice in a row: that undoes it.",
            "Pack one thing after the other, each only once.",
        ),
    },
    derived=_derived,
)
