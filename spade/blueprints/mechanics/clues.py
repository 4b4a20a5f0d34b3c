"""Deduction from clues: ask for features of the hidden one, rule out the others, name it.

Every suspect differs from every other in the first features, of which there are log2(suspects): asking those and then
naming always wins a case, and each case brings that many turns and one more. Further features are distractors.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

FEATURES = (
    ("colour", "red", "blue"),
    ("size", "big", "small"),
    ("place", "north", "south"),
    ("age", "old", "new"),
    ("sound", "loud", "quiet"),
)


def _needed(blueprint: Blueprint) -> int:
    return blueprint.number("suspects").bit_length() - 1


def _suspects(blueprint: Blueprint) -> tuple[str, ...]:
    things = blueprint.things[:4]
    marks = ("",) if blueprint.number("suspects") == len(things) else ("first ", "second ")
    return tuple(f"{mark}{thing}" for mark in marks for thing in things)


def _features(blueprint: Blueprint) -> tuple[tuple[str, str, str], ...]:
    return FEATURES[: _needed(blueprint) + blueprint.number("distractors")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    free = 1 if blueprint.word("first_clue") == "free" else 0
    turns = blueprint.number("cases") * (_needed(blueprint) + 1 - free) + blueprint.number("slack")
    return {
        "names": list(_suspects(blueprint)),
        "features": list(_features(blueprint)),
        "needed": _needed(blueprint),
        "turns": turns,
    }


CLUES = Mechanic(
    name="clues",
    setting=Setting.GAMES,
    skills=(Skill.LOGICAL_DEDUCTION, Skill.CAUSAL_INFERENCE),
    says="find the hidden one among suspects by asking for its features",
    knobs=(
        Knob("suspects", numbers(4, 8), "how many suspects"),
        Knob("cases", numbers(2, 3, 4), "how many cases to solve"),
        Knob("distractors", numbers(0, 1, 2), "features that do not help"),
        Knob("slack", numbers(0, 2, 4), "spare turns"),
        Knob("first_clue", ("free", "asked"), "whether each case begins with a clue"),
    ),
    actions=lambda b: _suspects(b) + tuple(name for name, _, _ in _features(b)),
    plans={
        "ask_first": lambda _: (
            "Ask for a feature before you name anyone.",
            "Ask until a single suspect fits, then name it.",
        ),
        "rule_out": lambda _: (
            "Never name a suspect that was already wrong in this case.",
            "Name only suspects whose features fit what you were told.",
        ),
        "guess": lambda _: (
            "Name the suspects one after the other.",
            "When two suspects fit, name one; if it is wrong, name the other.",
        ),
    },
    derived=_derived,
)
