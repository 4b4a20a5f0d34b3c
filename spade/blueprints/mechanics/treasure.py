"""Hot and cold: dig in a grid for hidden things; each hole says how many steps away the nearest lies.

Three well-chosen digs always find one thing on grids up to six by six (checked by search over all digs); each thing
brings three and `slack` more.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

_LETTERS = "abcdef"
NEEDED = 3
"""Digs that always suffice for one thing, if well chosen."""


def _cells(blueprint: Blueprint) -> tuple[str, ...]:
    size = blueprint.number("size")
    return tuple(f"{letter}{number}" for letter in _LETTERS[:size] for number in range(1, size + 1))


def _region(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("region"):
        case "edge":
            return ("The things always lie at the edge of the grid.", "Never dig inside: dig along the border.")
        case "first_rows":
            return (
                "The things always lie in the rows with the first letters.",
                "Never dig in the rows with the last letters.",
            )
    return ("The things may lie anywhere.", "No place is likelier than another.")


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "cells": list(_cells(blueprint)),
        "turns": blueprint.number("hidden") * (NEEDED + blueprint.number("slack")),
    }


TREASURE = Mechanic(
    name="treasure",
    setting=Setting.GAMES,
    skills=(Skill.SPATIAL_REASONING, Skill.OPTIMIZATION, Skill.LOGICAL_DEDUCTION),
    says="dig in a grid for hidden things, told how far each hole is off",
    knobs=(
        Knob("size", numbers(3, 4, 5, 6), "rows and columns", easy=numbers(3)),
        Knob("hidden", numbers(2, 3), "things to find, one after the other", easy=numbers(2)),
        Knob("slack", numbers(1, 2, 3), "spare digs for each", easy=numbers(1, 2)),
        Knob("region", ("anywhere", "edge", "first_rows"), "where things lie"),
    ),
    actions=_cells,
    plans={
        "region": _region,
        "nearer": lambda _: (
            "When the distance grows, go back; when it shrinks, go on that way.",
            "Dig next to the hole with the smallest distance.",
        ),
        "no_repeat": lambda _: (
            "Never dig twice at one place.",
            "Dig at a new place each time.",
        ),
    },
    derived=_derived,
)
