"""State machine: buttons lead from room to room by hidden rules; reach the rooms asked for.

Each button is a hidden permutation of the rooms, so nothing is ever out of reach. The presses allowed are those of
the shortest way plus `slack`; with a shown table the way can be planned, without one it has to be found out. No single
button repeated reaches all goals.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

BUTTONS = ("red", "blue", "green")


def _buttons(blueprint: Blueprint) -> tuple[str, ...]:
    return BUTTONS[: blueprint.number("buttons")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "labels": list(_buttons(blueprint)),
        "rooms_named": list(blueprint.things),
        "turns": 25,
    }


MACHINE = Mechanic(
    name="machine",
    setting=Setting.GAMES,
    skills=(Skill.CAUSAL_INFERENCE, Skill.PATTERN_RECOGNITION, Skill.SPATIAL_REASONING),
    says="learn where hidden buttons lead and reach the rooms asked for",
    knobs=(
        Knob("buttons", numbers(2, 3), "how many buttons"),
        Knob("goals", numbers(2, 3), "rooms to reach, one after the other", easy=numbers(2)),
        Knob("slack", numbers(1, 3, 5), "spare presses", easy=numbers(3, 5)),
        Knob("table", ("shown", "hidden"), "whether it is told where buttons lead"),
    ),
    actions=_buttons,
    plans={
        "explore": lambda _: (
            "In a new room press a button you have not pressed there.",
            "Remember where each button led; the same button in the same room always leads to the same place.",
        ),
        "change": lambda _: (
            "One button alone only goes round in a circle: change buttons.",
            "When you come back to a room, press another button there.",
        ),
        "backwards": lambda _: (
            "Find a room from which a button leads to the goal, and go there first.",
            "Think back from the goal.",
        ),
    },
    derived=_derived,
)
