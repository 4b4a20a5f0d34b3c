"""Grid navigation: walk to flags over a walled grid with few moves to spare.

The moves allowed in an instance are its shortest walk plus `slack`, so a careful player always wins. The first flag
lies off both axes of the start, so no single move repeated gets there.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

_MOVES = ("up", "down", "left", "right")


def _heading(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("start"):
        case "top_left":
            return ("The walk begins at the top left: go right and down.", "At first only down and right are of use.")
        case "bottom_right":
            return ("The walk begins at the bottom right: go left and up.", "At first only up and left are of use.")
    return ("Read where the flag lies and go that way.", "First make the rows equal, then the columns.")


GRID_WALK = Mechanic(
    name="grid_walk",
    setting=Setting.GAMES,
    skills=(Skill.SPATIAL_REASONING, Skill.OPTIMIZATION),
    says="walk over a grid to flags with few moves",
    knobs=(
        Knob("size", numbers(3, 4, 5, 6), "rows and columns"),
        Knob("flags", numbers(2, 3), "flags to reach, one after the other"),
        Knob("walls", numbers(0, 1, 2), "walls in the way"),
        Knob("slack", numbers(1, 4, 8), "spare moves"),
        Knob("start", ("anywhere", "top_left", "bottom_right"), "where the walk begins"),
        Knob("compass", ("yes", "no"), "whether the way to the flag is told"),
    ),
    actions=lambda _: _MOVES,
    plans={
        "heading": _heading,
        "rows_first": lambda _: (
            "First go up or down until the rows agree, then go left or right.",
            "First go left or right until the columns agree, then go up or down.",
        ),
        "detour": lambda _: (
            "When a wall stops you, step aside once and go on.",
            "Do not say a move again that hit a wall.",
        ),
    },
    derived=lambda _: {"turns": 25},
    easy=False,
)
