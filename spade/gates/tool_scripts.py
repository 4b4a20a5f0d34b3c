"""What is played besides in a tool-use environment: odd calls, tools the solution never needs, and exchanged values."""

import json
from collections.abc import Mapping
from typing import Any

from spade.gates.facts import Facts, Player
from spade.gates.script import Script, saying
from spade.gates.tool_facts import calls_of, declared_tools, oracle_plays, replaced, unrevealed, used_tools

ODD: dict[str, tuple[Any, ...]] = {
    "string": ("", "zq", "☃" * 40, "0"),
    "integer": (0, -1, 10**12),
    "number": (0, -1.5, 1e300),
    "boolean": (True, False),
    "array": ([], ["zq"], [[1]]),
    "object": ({}, {"zq": None}),
}
"""Values of the declared types that a careless tool trips over."""
SEEDS = 3
MOST_VALUES = 4


def call_fuzz(facts: Facts) -> list[str]:
    """Calls of every tool that are well typed and senseless, and some that are neither."""
    texts = ['{"name": 1}', '{"name": "zq", "arguments": {}}', "[]", "[1]", '[{"name": null}, "done?"]']
    for name, schema in declared_tools(facts).items():
        properties = schema.get("parameters", {}).get("properties", {})
        texts.append(_call(name, {}))
        texts.append(_call(name, {key: None for key in properties}))
        for at in range(max((len(_odd(p)) for p in properties.values()), default=0)):
            texts.append(_call(name, {key: _odd(p)[at % len(_odd(p))] for key, p in properties.items()}))
    return list(dict.fromkeys(texts))[:60]


def tool_scripts(facts: Facts) -> list[Script]:
    """Plays that must not win: distractors alone, declining everything, and solutions without an unrevealed value."""
    scripts: list[Script] = []
    idle = [_call(name, _filled(schema, facts)) for name, schema in declared_tools(facts).items()]
    idle = [action for action in idle if calls_of(action)[0]["name"] not in used_tools(facts)]
    for seed in facts.seeds[:SEEDS]:
        if idle:
            scripts.append(saying(Player.DISTRACTED, seed, [*idle, "done"]))
        scripts.append(saying(Player.CONSTANT, seed, [*["decline"] * 5, "done"], note="decline"))
    for play in oracle_plays(facts)[:SEEDS]:
        for value in unrevealed(play)[:MOST_VALUES]:
            actions = list(play.sent)
            actions[value.action] = replaced(actions[value.action], value.value)
            note = f"{value.tool}({value.key}={value.value!r})"
            scripts.append(saying(Player.UNREVEALED, play.seed, actions, note=note))
    return scripts


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)


def _odd(schema: Any) -> tuple[Any, ...]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    choices = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(choices, list) and choices:
        return tuple(choices)
    return ODD.get(kind if isinstance(kind, str) else "string", ODD["string"])


def _filled(schema: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Arguments that other tools were called with under the same key, else odd ones."""
    used: dict[str, Any] = {}
    for actions in facts.solved.values():
        for action in actions:
            for call in calls_of(action):
                used |= call.get("arguments") or {}
    properties = schema.get("parameters", {}).get("properties", {})
    return {key: used.get(key, _odd(p)[-1]) for key, p in properties.items()}
