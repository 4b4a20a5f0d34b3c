"""Hidden rule by probing: ask whether numbers keep a hidden rule, then name the rule.

Rules in the menu are pairwise told apart by the numbers that can be probed; a case brings as many turns as there are
probes, at most three, and one to name the rule, so asking and then naming wins.
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
PROBES = {3: (2, 3, 9), 5: (1, 2, 6, 7, 9), 9: tuple(range(1, 10))}


def _rules(blueprint: Blueprint) -> tuple[str, ...]:
    return tuple(RULES)[: blueprint.number("menu")]


def _probes(blueprint: Blueprint) -> tuple[int, ...]:
    return PROBES[blueprint.number("probes")]


def _derived(blueprint: Blueprint) -> dict[str, object]:
    return {
        "known": {rule: list(RULES[rule]) for rule in _rules(blueprint)},
        "numbers": list(_probes(blueprint)),
        "turns": blueprint.number("cases") * 4 + blueprint.number("slack"),
    }


HIDDEN_RULE = Mechanic(
    name="hidden_rule",
    setting=Setting.GAMES,
    skills=(Skill.PATTERN_RECOGNITION, Skill.LOGICAL_DEDUCTION, Skill.CAUSAL_INFERENCE),
    says="probe numbers with yes or no and name the hidden rule",
    knobs=(
        Knob("menu", numbers(3, 4, 6), "rules to tell apart"),
        Knob("probes", numbers(3, 5, 9), "numbers that may be probed"),
        Knob("cases", numbers(2, 3), "rules to find"),
        Knob("slack", numbers(0, 2, 4), "spare turns"),
    ),
    actions=lambda b: _rules(b) + tuple(map(str, _probes(b))),
    plans={
        "probe_first": lambda _: (
            "Probe a number before you name a rule.",
            "Probe numbers that keep some rules and break others.",
        ),
        "rule_out": lambda _: (
            "Do not name a rule that was already wrong.",
            "Rule out each rule that a probe contradicts, then name one that is left.",
        ),
        "name": lambda _: (
            "Name the rules one after the other.",
            "Naming a wrong rule costs only a turn: name one, then another.",
        ),
    },
    derived=_derived,
)
