"""Pattern: foretell the next word of a hidden series; after each try the true word is shown.

The series repeats one hidden block: a cycle of words, a cycle walked to and fro, one in which every word comes twice,
or one in which every word stays for three. The number of right words asked for lies above what any single word repeated
reaches, and not above what a player reaches who says the last word again in runs and, after one block, goes on with it.
"""

from itertools import pairwise

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

WORDS = {"cycle": 3, "mirror": 3, "double": 3, "stay": 4}
"""Different words of a block, by rule."""


def block(rule: str) -> list[int]:
    """The hidden block as places in a list of words."""
    match rule:
        case "mirror":
            return [0, 1, 2, 1]
        case "double":
            return [0, 0, 1, 1, 2, 2]
        case "stay":
            return [word for word in range(4) for _ in range(3)]
    return [0, 1, 2]


def bounds(rule: str, tries: int) -> tuple[int, int]:
    """Right words that one word repeated reaches at most, and that an attentive player reaches at least."""
    places = block(rule)
    shifts = [[places[(start + at) % len(places)] for at in range(tries)] for start in range(len(places))]
    constant = max(series.count(word) for series in shifts for word in set(places))
    first = places[: min(len(places), tries)]
    repeated = sum(a == b for a, b in pairwise(first))
    return constant, tries - len(first) + max(0, repeated - 1)


def _goal(blueprint: Blueprint) -> int:
    low, high = bounds(blueprint.word("rule"), blueprint.number("tries"))
    return {"low": low + 1, "middle": (low + 1 + high) // 2, "high": high}[blueprint.word("goal")]


def _rule(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("rule"):
        case "cycle":
            return ("The series starts over after its last word.", "No word comes twice in a row.")
        case "mirror":
            return ("The series runs to its end and then back.", "At the end the order turns round.")
        case "double":
            return ("Every word comes twice in a row.", "After two equal words a new one comes.")
    return ("Every word stays for a while: say the word you were last shown.", "Say the last true word again.")


def _menu(blueprint: Blueprint) -> tuple[str, ...]:
    return blueprint.things[: WORDS[blueprint.word("rule")] + blueprint.number("decoys")]


PATTERN = Mechanic(
    name="pattern",
    setting=Setting.GAMES,
    skills=(Skill.PATTERN_RECOGNITION, Skill.LOGICAL_DEDUCTION),
    says="foretell the next word of a hidden series that repeats",
    knobs=(
        Knob("rule", ("stay", "double", "cycle", "mirror"), "how the series goes on", easy=("stay", "cycle")),
        Knob("goal", ("low", "middle", "high"), "how many words must be right", easy=("low",)),
        Knob("tries", numbers(10, 12), "how many words are asked for", easy=numbers(10)),
        Knob("decoys", numbers(0, 1, 2), "words that never come", easy=numbers(0)),
    ),
    actions=_menu,
    plans={
        "rule": _rule,
        "look_back": lambda _: (
            "Look what came after the last true word before, and say that.",
            "The series repeats itself: say what you saw one round earlier.",
        ),
        "listen": lambda _: (
            "Trust the words you were shown, not the ones you said.",
            "Say only words that were shown as true.",
        ),
    },
    derived=lambda blueprint: {
        "menu": list(_menu(blueprint)),
        "words": WORDS[blueprint.word("rule")],
        "block": block(blueprint.word("rule")),
        "right": _goal(blueprint),
        "turns": blueprint.number("tries"),
    },
)
