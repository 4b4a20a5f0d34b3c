"""What the plays of a tool-use environment show: tools, calls, requests fulfilled, and where values came from."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spade.acting import TOOLS as _TOOLS
from spade.acting import listed_tools
from spade.gates.facts import Facts, Play, Player

_COUNT = re.compile(r"^Request 1 of (\d+):", re.MULTILINE)
_COMPLETE = re.compile(r"^Request (\d+) is complete\.", re.MULTILINE)
_ASKED = re.compile(r"^Request \d+ of \d+: .*$", re.MULTILINE)
_NUMBER = re.compile(r"[\s\d.,:%€$+-]+")
_ERROR = re.compile(r"^Error: .*$", re.MULTILINE)
STRANGER = "zq"
"""A value that no instance holds."""
MIN_IDENTIFIER = 1000
"""Smaller numbers are amounts."""
MIN_TEXT = 3
"""Texts shorter than this are choices or letters, not values one has to look up."""


@dataclass(frozen=True, slots=True)
class Value:
    """One argument of a call that the solution makes: at which action, under which key."""

    action: int
    tool: str
    key: str
    value: Any


def declared_tools(facts: Facts) -> dict[str, dict[str, Any]]:
    """Schemas by name, as the first observation lists them; empty when it lists none."""
    listed = (listed_tools(reply.observation) for reply in facts.greetings.values())
    return next((tools for tools in listed if tools), {})


def calls_of(action: str) -> list[dict[str, Any]]:
    """The calls of an action as `{"name", "arguments"}`; none when it is a word."""
    try:
        found = json.loads(action)
    except (ValueError, RecursionError):
        return []
    items = found if isinstance(found, list) else [found]
    return [c for c in items if isinstance(c, dict) and isinstance(c.get("name"), str)]


def used_tools(facts: Facts) -> set[str]:
    return {call["name"] for actions in facts.solved.values() for a in actions for call in calls_of(a)}


def requests_of(play: Play) -> int:
    """How many requests an episode has; 0 when the first observation does not say."""
    count = _COUNT.search(play.observation)
    return int(count[1]) if count else 0


def completed(play: Play) -> int:
    """How many requests were completed or declined."""
    return sum(len(_COMPLETE.findall(step.observation)) for step in play.steps)


def errors_of(play: Play) -> list[str]:
    return [error for step in play.steps for error in _ERROR.findall(step.observation)]


def values_of(play: Play) -> Iterator[Value]:
    """The texts and numbers that the actions of a play pass to tools, those inside lists and objects too."""
    for at, action in enumerate(play.sent):
        for call in calls_of(action):
            for key, value in (call.get("arguments") or {}).items():
                for part in _leaves(value):
                    yield Value(at, call["name"], str(key), part)


def unrevealed(play: Play) -> list[Value]:
    """Values that a call needs although nothing printed before it shows them: neither requests, tools nor results.

    Of numbers, which may have been computed, only those that look like an identifier: large ones under a key that
    several tools take.
    """
    shared = _shared_keys(play)
    found = []
    for value in values_of(play):
        if _is_word(value.value) or (value.key in shared and _is_large(value.value)):
            seen = "\n".join([play.observation, *(s.observation for s in play.steps[: value.action])])
            if not holds(seen, str(value.value)):
                found.append(value)
    return found


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= MIN_TEXT and not _NUMBER.fullmatch(value)


def _is_large(value: Any) -> bool:
    return type(value) is int and abs(value) >= MIN_IDENTIFIER


def _shared_keys(play: Play) -> set[str]:
    """Parameters that more than one tool takes."""
    tools = listed_tools(play.observation).values()
    keys = Counter(key for tool in tools for key in tool.get("parameters", {}).get("properties", {}))
    return {key for key, count in keys.items() if count > 1}


def given_away(play: Play) -> list[Value]:
    """Values that a lookup shows before they are used, that no request names, and that the introduction prints."""
    introduction = _ASKED.sub("", _TOOLS.sub("", play.observation))
    asked = "\n".join(_ASKED.findall("\n".join(play.observations)))
    tools = "".join(_TOOLS.findall(play.observation))
    found = []
    for value in values_of(play):
        text = str(value.value)
        results = "\n".join(s.observation for s in play.steps[: value.action])
        telling = len(text) >= MIN_TEXT and not isinstance(value.value, bool)
        if telling and holds(results, text) and not holds(asked, text) and not holds(tools, text):
            found += [value] if holds(introduction, text) else []
    return found


def holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def oracle_plays(facts: Facts) -> list[Play]:
    """One play of the solution an instance, in the process that was not asked for it."""
    return list({p.seed: p for p in facts.by(Player.ORACLE, process=1)}.values())


def replaced(action: str, value: Any) -> str:
    """The action with a value of its calls exchanged for one that no instance holds."""
    return action.replace(json.dumps(value, ensure_ascii=False), json.dumps(STRANGER))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield value
