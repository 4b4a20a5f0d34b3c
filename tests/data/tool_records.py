"""Won plays of a tool-use environment, as an agent that writes Hermes calls leaves them."""

import json
from dataclasses import replace
from typing import Any

from data.catalog import Catalog
from spade.curation import Evidence, decide
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.outcomes import EpisodeOutcome
from spade.skills import Setting, Skill
from tests.data.records import chain

UNION: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "enum": ["a", "b"]},
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        {"type": "object", "properties": {"deep": {"type": ["string", "null"], "default": None}}},
    ]
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "find",
        "description": "Find.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
    },
    {"name": "move", "description": "Move.", "parameters": {"type": "object", "properties": {"to": UNION}}},
    {"name": "count", "description": "Count.", "parameters": {"type": "object", "properties": {}}},
]


def greeting(tools: list[dict[str, Any]]) -> str:
    lines = "\n".join(json.dumps({"type": "function", "function": tool}) for tool in tools)
    return f"You run a desk.\n\n<tools>\n{lines}\n</tools>\n\nAct with one call.\n\nRequest 1 of 3: Find A1."


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def played(cycle_id: str, env_id: str, play: int, actions: list[str], seen: list[str]) -> Episode:
    """A won play: every action stands in its reply as the agent wrote it."""
    turns = tuple(
        Turn(observation, reply_to(action), action, float(last), last, finish_reason="stop")
        for observation, action, last in zip(seen, actions, [*[False] * (len(actions) - 1), True], strict=True)
    )
    asked = Asked(cycle_id, env_id, 0, Arm.PLAIN, play, play)
    episode = Episode(asked, EpisodeOutcome.COMPLETED, turns, "tiny", "tiny-1", 1.0, True)
    return replace(episode, final_observation="Every request is fulfilled.", system="Use the tools.")


def reply_to(action: str) -> str:
    if action in ("done", "decline"):
        return f"That is all.\n{action}"
    return f"I look it up.\n<tool_call>\n{action}\n</tool_call>"


def desk(catalog: Catalog, episodes: list[Episode] | None = None) -> str:
    """Store a chain whose environment is of the tool-use setting, with its plays and decisions; its id."""
    cycle, env_id = chain(catalog)
    (attempt,) = catalog.attempts(env_id=[env_id], accepted=True)
    (slot,) = catalog.slots(slot_id=attempt.slot_id)
    environment = Environment("class DeskEnv(ToolEnv): ...\n", Setting.TOOLS, Skill.TOOL_SELECTION, "Desk", "")
    tool_slot = replace(slot, index=7, setting=Setting.TOOLS, skill=environment.skill)
    catalog.append("slots", [tool_slot])
    catalog.append("environments", [environment])
    catalog.append("attempts", [replace(attempt, slot_id=tool_slot.slot_id, env_id=environment.env_id)])
    plays = episodes or [
        played(
            cycle.cycle_id,
            environment.env_id,
            play,
            [call("find", id=f"A{play}"), call("move", to=[1, None]), call("move", to={"deep": None}), "done"],
            [greeting(TOOLS), '{"status": "open"}', "moved", f"moved {play}. That was the last request."],
        )
        for play in range(2)
    ]
    plays = [replace(e, asked=replace(e.asked, cycle_id=cycle.cycle_id, env_id=environment.env_id)) for e in plays]
    catalog.append("episodes", plays)
    catalog.append("decisions", decide(plays, Evidence(frozenset(e.episode_id for e in plays))))
    return environment.env_id
