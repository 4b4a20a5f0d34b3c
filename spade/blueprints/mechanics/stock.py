"""Bookkeeping with tools: keep the counts of a stock book as one request after another asks.

Plain requests name the number to write; others need a number that must be looked up first, pages may be locked until a
tool unlocks them, and one request may be beyond every tool and has to be declined. One tool is a distractor.
"""

import json

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, numbers
from spade.skills import Setting, Skill


def _items(blueprint: Blueprint) -> tuple[str, ...]:
    return blueprint.things[: blueprint.number("items")]


def _actions(blueprint: Blueprint) -> tuple[str, ...]:
    items, top = _items(blueprint), blueprint.number("top")
    calls = [{"name": "count", "arguments": {"item": item}} for item in items]
    calls += [
        {"name": "write", "arguments": {"item": item, "number": number}} for item in items for number in range(top + 1)
    ]
    if blueprint.word("locks") == "yes":
        calls += [{"name": "unlock", "arguments": {"item": item}} for item in items]
    calls += [{"name": "label", "arguments": {"item": item}} for item in items]
    return (*map(json.dumps, calls), "done", "decline")


def _derived(blueprint: Blueprint) -> dict[str, object]:
    needed = 4 + blueprint.number("lookups") + (1 if blueprint.word("locks") == "yes" else 0)
    return {"names": list(_items(blueprint)), "turns": needed + blueprint.number("slack")}


STOCK = Mechanic(
    name="stock",
    setting=Setting.TOOLS,
    skills=(
        Skill.STATE_MODIFICATION,
        Skill.MULTI_STEP_WORKFLOWS,
        Skill.TOOL_SELECTION,
        Skill.ERROR_RECOVERY,
        Skill.DATA_RETRIEVAL,
        Skill.API_ORCHESTRATION,
    ),
    says="keep a stock book with tools that count, write and unlock",
    knobs=(
        Knob("items", numbers(3, 4, 6), "kinds of things in the book"),
        Knob("top", numbers(3, 5, 9), "highest number of a thing"),
        Knob("lookups", numbers(0, 1, 2), "requests whose number must be looked up"),
        Knob("locks", ("no", "yes"), "whether a page may be locked"),
        Knob("hopeless", numbers(0, 1), "requests no tool can fulfil"),
        Knob("slack", numbers(1, 3, 5), "spare turns"),
    ),
    actions=_actions,
    plans={
        "repeat": lambda _: (
            "Call write with the very thing and number that the request names.",
            "Each request needs one write; do not write anything else.",
        ),
        "look_up": lambda _: (
            "First count what the request compares with, then write.",
            "When a request names no number, count first.",
        ),
        "finish": lambda _: (
            "When the last request is complete, answer done.",
            "Decline only what no tool can do; answer done only at the end.",
        ),
    },
    derived=_derived,
    easy=False,
)
