"""Search with feedback: find hidden numbers from `too low` and `too high`.

A player who halves what is left always wins: the tries of one number are at least the bit length of the range. Tries
left over from one number serve the next.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill


def _turns(blueprint: Blueprint) -> int:
    return blueprint.number("rounds") * (blueprint.number("top").bit_length() + blueprint.number("slack"))


def _actions(blueprint: Blueprint) -> tuple[str, ...]:
    return tuple(str(n) for n in range(1, blueprint.number("top") + 1))


def _lean(blueprint: Blueprint) -> tuple[str, ...]:
    match blueprint.word("lean"):
        case "low":
            return ("The hidden numbers are mostly small: start low.", "Small numbers come most often.")
        case "high":
            return ("The hidden numbers are mostly big: start high.", "Big numbers come most often.")
    return ("No number is likelier than another: use only what you were told.", "Never say a number twice.")


GUESS_NUMBER = Mechanic(
    name="guess_number",
    setting=Setting.GAMES,
    skills=(Skill.MATHEMATICAL_REASONING, Skill.LOGICAL_DEDUCTION, Skill.OPTIMIZATION),
    says="find hidden numbers; each guess is answered with too low or too high",
    knobs=(
        Knob("top", numbers(5, 8, 12, 20, 30, 50), "the numbers go from 1 to top", easy=numbers(5, 8)),
        Knob("rounds", numbers(2, 3), "how many numbers to find", easy=numbers(2)),
        Knob("slack", numbers(0, 1, 2), "spare guesses", easy=numbers(1, 2)),
        Knob("lean", ("even", "low", "high"), "where the numbers mostly lie"),
    ),
    actions=_actions,
    plans={
        "halve": lambda _: (
            "Always say the number in the middle of those that are still possible.",
            "Each answer rules out half of the numbers if you ask in the middle.",
        ),
        "lean": _lean,
        "step": lambda _: (
            "Too low means say a bigger number; too high means say a smaller one.",
            "Remember what was too low and what was too high, and stay between the two.",
        ),
    },
    derived=lambda blueprint: {"turns": _turns(blueprint)},
)
