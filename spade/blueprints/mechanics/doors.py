"""Doors: pass a row of doors; each wants a word that its sign decides, by a house's own table that is nowhere told.

The table is the same in every game of a house, so it is learned over games and not within one; a hint may tell of it.
"""

from functools import cache

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.identity import rng_for
from spade.skills import Setting, Skill

SIGNS = ("red", "blue", "green", "white")
WORDS = 4
MOST = 12
"""Doors of the longest row."""


@cache
def table(house: str) -> tuple[tuple[int, ...], ...]:
    """For each door, the place of the word that each sign wants; different signs of a door want different words."""
    rng = rng_for(0, "doors", house)
    return tuple(tuple(rng.sample(range(WORDS), len(SIGNS))) for _ in range(MOST))


def _menu(blueprint: Blueprint) -> tuple[str, ...]:
    return blueprint.things[:WORDS]


def _wanted(blueprint: Blueprint) -> list[list[str]]:
    doors, signs, menu = blueprint.number("doors"), blueprint.number("signs"), _menu(blueprint)
    return [[menu[place] for place in row[:signs]] for row in table(blueprint.word("house"))[:doors]]


def _told(blueprint: Blueprint, door: int, name: str) -> str:
    pairs = zip(SIGNS, _wanted(blueprint)[door], strict=False)
    return f"At the {name} door " + ", ".join(f"{sign} wants {word}" for sign, word in pairs) + "."


DOORS = Mechanic(
    name="doors",
    setting=Setting.GAMES,
    skills=(Skill.PATTERN_RECOGNITION, Skill.CAUSAL_INFERENCE),
    says="pass a row of doors whose signs want words by a hidden table that is the same in every game",
    knobs=(
        Knob("house", ("old", "new", "far"), "which table"),
        Knob("signs", numbers(2, 3, 4), "different signs"),
        Knob("doors", numbers(*range(2, MOST + 1)), "doors in a row"),
        Knob("slack", numbers(0, 1, 2), "wrong words forgiven"),
    ),
    actions=_menu,
    plans={
        "first": lambda blueprint: (_told(blueprint, 0, "first"), "The first door's table never changes: learn it."),
        "last": lambda blueprint: (_told(blueprint, -1, "last"), "The last door's table never changes: learn it."),
        "table": lambda _: (
            "Signs of one door always want different words.",
            "What a sign wants at a door is the same in every game, but differs from door to door.",
        ),
    },
    derived=lambda blueprint: {
        "menu": list(_menu(blueprint)),
        "shown": list(SIGNS[: blueprint.number("signs")]),
        "wanted": _wanted(blueprint),
        "turns": blueprint.number("doors") + blueprint.number("slack") + 1,
    },
    easy=False,
)
