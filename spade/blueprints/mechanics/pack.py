"""Resource planning: put things with weight and worth into a bag that carries so much; reach a worth.

Saying a thing puts it in; `empty` takes all of them out. The worth asked for is a share of the best possible, found
over all sets of things; at least three things are needed, and few sets are enough.
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
        Knob("share", numbers(80, 90, 100), "percent of the best worth that is asked for", easy=numbers(80)),
        Knob("slack", numbers(0, 3, 6), "spare turns", easy=numbers(3, 6)),
        Knob("weights", ("light", "heavy"), "how different the weights are"),
    ),
    actions=lambda blueprint: (*blueprint.things, "empty"),
    plans={
        "best_first": lambda _: (
            "Take what is worth much and weighs little.",
            "Compare worth and weight of each thing before you pack.",
        ),
        "start_over": lambda _: (
            "When nothing more fits and the worth is too small, empty the bag and try other things.",
            "Leave out what weighs most for its worth.",
        ),
        "no_repeat": lambda _: (
            "Do not say a thing that is packed already.",
            "Pack one thing after the other, each only once.",
        ),
    },
    derived=_derived,
)
