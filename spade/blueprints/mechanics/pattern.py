"""Pattern: foretell the next word of a hidden series; after each try the true word is shown.

The series repeats one hidden block of words: a cycle, a cycle walked to and fro, or one in which every word comes
twice. So many right words in a row win; decoys never come. The tries are as many as the block has words, plus the words
to foretell, plus `slack`: who sees one block and then goes on with it always wins.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill


def _rule(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("rule"):
        case "cycle":
            return ("The series starts over after its last word.", "No word comes twice in a row.")
        case "mirror":
            return ("The series runs to its end and then back.", "At the end the order turns round.")
    return ("Every word comes twice in a row.", "After two equal words a new one comes.")


def _block(blueprint: Blueprint) -> int:
    period = blueprint.number("period")
    return {"cycle": period, "mirror": 2 * period - 2, "double": 2 * period}[blueprint.word("rule")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "words": list(_words(blueprint)),
        "turns": _block(blueprint) + blueprint.number("right") + blueprint.number("slack"),
    }


def _words(blueprint: Blueprint) -> tuple[str, ...]:
    return blueprint.things[: blueprint.number("period") + blueprint.number("decoys")]


PATTERN = Mechanic(
    name="pattern",
    setting=Setting.GAMES,
    skills=(Skill.PATTERN_RECOGNITION, Skill.LOGICAL_DEDUCTION),
    says="foretell the next word of a hidden series that repeats",
    knobs=(
        Knob("rule", ("cycle", "mirror", "double"), "how the series goes on"),
        Knob("period", numbers(2, 3), "how many different words"),
        Knob("decoys", numbers(1, 2, 3), "words that never come"),
        Knob("right", numbers(3, 4, 5), "words to foretell in a row"),
        Knob("slack", numbers(0, 2, 4), "spare tries"),
    ),
    actions=_words,
    plans={
        "rule": _rule,
        "look_back": lambda _: (
            "Look what came after the last word before, and say that.",
            "The series repeats itself: say what you saw one round earlier.",
        ),
        "not_again": lambda _: (
            "Only a few of the words ever come: say those.",
            "Say the words that came, never those that did not.",
        ),
    },
    derived=_derived,
)
