"""From an agent's reply to the action that the program gets: the last box, or all tool calls in their order."""

import json
import re
from collections.abc import Callable
from typing import Any

from spade.boxes import action_of, without_thoughts
from spade.messages import Completion
from spade.skills import Setting
from spade.tool_calls import WORDS, action_of_reply, of_completion

TOOLS = re.compile(r"<tools>\n(.*?)\n</tools>", re.DOTALL)
"""How the first observation of a tool-use environment lists its tools: one declaration a line, in OpenAI's form."""

Reader = Callable[[Completion], str]


def action_reader(setting: Setting, greeting: str) -> Reader:
    """How the replies of one episode are read; `greeting` is its first observation, which declares the tools."""
    if setting is Setting.GAMES:
        return lambda completion: action_of(completion.text)
    parameters = {name: schema.get("parameters", {}) for name, schema in listed_tools(greeting).items()}
    return lambda completion: action_of_reply(of_completion(completion, parameters), without_thoughts(completion.text))


def listed_tools(observation: str) -> dict[str, dict[str, Any]]:
    """Declarations by name; empty where the text lists none that can be read."""
    listed = TOOLS.search(observation)
    if listed is None:
        return {}
    try:
        schemas = [json.loads(line)["function"] for line in listed[1].splitlines()]
        return {str(schema["name"]): schema for schema in schemas}
    except (ValueError, KeyError, TypeError):
        return {}


def items_of(action: str) -> list[Any] | None:
    """The calls (objects with `name` and `arguments`) and words of an action; None where it holds anything else."""
    if action in WORDS:
        return [action]
    try:
        value = json.loads(action)
    except (ValueError, RecursionError):
        return None
    items = value if isinstance(value, list) else [value]
    return items if items and all(map(_is_part, items)) else None


def _is_part(item: Any) -> bool:
    if isinstance(item, str):
        return item in WORDS
    return isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("arguments"), dict)
