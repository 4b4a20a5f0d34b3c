"""Deduction from clues: learn features of the hidden one, rule out the others, name it.

Every suspect differs from every other in the first features, of which there are log2(suspects). Clues are given (one
at the start of a case, one after each wrong name) or have to be asked for; either way a case brings as many turns as
one who rules out needs. Further features are distractors.
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


def _asked(blueprint: Blueprint) -> bool:
    return blueprint.word("clues") == "asked"


def _actions(blueprint: Blueprint) -> tuple[str, ...]:
    features = tuple(name for name, _, _ in _features(blueprint)) if _asked(blueprint) else ()
    return _suspects(blueprint) + features


def _derived(blueprint: Blueprint) -> dict[str, object]:
    per_case = _needed(blueprint) + (1 if _asked(blueprint) else 0)
    return {
        "names": list(_suspects(blueprint)),
        "features": list(_features(blueprint)),
        "needed": _needed(blueprint),
        "turns": blueprint.number("cases") * per_case + blueprint.number("slack"),
    }


CLUES = Mechanic(
    name="clues",
    setting=Setting.GAMES,
    skills=(Skill.LOGICAL_DEDUCTION, Skill.CAUSAL_INFERENCE),
    says="find the hidden one among suspects from clues",
    knobs=(
        Knob("suspects", numbers(4, 8), "how many suspects", easy=numbers(4)),
        Knob("cases", numbers(2, 3), "how many cases to solve", easy=numbers(2)),
        Knob("distractors", numbers(0, 1, 2), "features that do not help"),
        Knob("slack", numbers(0, 1, 2), "spare turns", easy=numbers(1, 2)),
        Knob("clues", ("given", "asked"), "whether clues come by themselves or must be asked for", easy=("given",)),
    ),
    actions=_actions,
    plans={
        "fit": lambda _: (
            "Name a suspect that has every feature you were told.",
            "Hold each suspect against the clues; one that differs in a single feature is out.",
        ),
        "rule_out": lambda _: (
            "Never name a suspect that was already wrong in this case.",
            "Each wrong name rules out one suspect: go on to another.",
        ),
        "in_turn": lambda _: (
            "Name the suspects one after the other, from the first to the last.",
            "When two suspects fit, name one; if it is wrong, name the other.",
        ),
    },
    derived=_derived,
)
