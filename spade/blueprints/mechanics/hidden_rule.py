"""Hidden rule by probing: learn which numbers keep a hidden rule, then name the rule.

Examples are given (one at the start of a case, one after each wrong name) or numbers have to be probed. A given example
always tells apart rules that still fit.
"""

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill

RULES: dict[str, tuple[int, ...]] = {
    "even": (2, 4, 6, 8),
    "odd": (1, 3, 5, 7, 9),
    "small": (1, 2, 3, 4),
    "large": (6, 7, 8, 9),
    "triple": (3, 6, 9),
    "square": (1, 4, 9),
}
"""Each rule with the numbers from 1 to 9 that keep it."""
PROBES = {5: (1, 2, 6, 7, 9), 9: tuple(range(1, 10))}


def _rules(blueprint: Blueprint) -> tuple[str, ...]:
    return tuple(RULES)[: blueprint.number("menu")]


def _probes(blueprint: Blueprint) -> tuple[int, ...]:
    return PROBES[blueprint.number("probes")]


def _probing(blueprint: Blueprint) -> bool:
    return blueprint.word("examples") == "probed"


def _actions(blueprint: Blueprint) -> tuple[str, ...]:
    return _rules(blueprint) + (tuple(map(str, _probes(blueprint))) if _probing(blueprint) else ())


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "known": {rule: list(RULES[rule]) for rule in _rules(blueprint)},
        "numbers": list(_probes(blueprint)),
        "turns": blueprint.number("cases") * (4 if _probing(blueprint) else 3) + blueprint.number("slack"),
    }


HIDDEN_RULE = Mechanic(
    name="hidden_rule",
    setting=Setting.GAMES,
    skills=(Skill.PATTERN_RECOGNITION, Skill.LOGICAL_DEDUCTION, Skill.CAUSAL_INFERENCE),
    says="probe numbers with yes or no and name the hidden rule",
    knobs=(
        Knob("menu", numbers(4, 5, 6), "rules to tell apart", easy=numbers(5, 6)),
        Knob("probes", numbers(5, 9), "numbers there are"),
        Knob("cases", numbers(2, 3), "rules to find", easy=numbers(2)),
        Knob("slack", numbers(0, 1, 2), "spare turns", easy=numbers(1, 2)),
        Knob(
            "examples",
            ("given", "probed"),
            "whether examples come by themselves or numbers must be probed",
            easy=("given",),
        ),
    ),
    actions=_actions,
    plans={
        "fit": lambda _: (
            "Name a rule that agrees with every example.",
            "A number that keeps the rule must be in its list; one that does not must not.",
        ),
        "rule_out": lambda _: (
            "Do not name a rule that was already wrong.",
            "Rule out each rule that an example contradicts, then name one that is left.",
        ),
        "in_turn": lambda _: (
            "Name the rules one after the other.",
            "Naming a wrong rule costs only a turn: name one, then another.",
        ),
    },
    derived=_derived,
)
