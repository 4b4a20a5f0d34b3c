"""The JSON schema a designer's reply is decoded under, and the strict reading of what came back."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spade.blueprints.mechanic import Blueprint, Mechanic, Reach, Value
from spade.blueprints.offering import Offer, offers
from spade.blueprints.themes import THEMES
from spade.identity import canonical
from spade.skills import Skill

TITLES: Mapping[Reach, str] = {
    "all": "^[A-Z][a-z]{0,12}( [A-Za-z][a-z]{0,12}){1,5}$",
    "easy": "^The [A-Z][a-z]{2,10}( [a-z]{2,10}){1,3}$",
}
STORIES: Mapping[Reach, str] = {
    "all": "^[A-Z][a-z']{0,12}(,? [A-Za-z][a-z']{0,12}){4,20}[.!?]$",
    "easy": "^You [a-z]{2,10}(,? [a-z]{1,10}){4,12}\\.$",
}
"""Words, not characters: under a grammar of characters a small model runs on without end. Begun sentences help it more
than it costs."""
MAX_REPLY = 4096
"""A longer reply is refused unread; the longest blueprint has about 600 characters."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why a reply is no blueprint, in words the designer can act on."""

    reason: str


def blueprint_schema(skill: Skill, reach: Reach = "all", refused: Sequence[Blueprint] = ()) -> dict[str, Any]:
    """What a reply may be: one closed object a game on offer, its knobs as enums, its texts by pattern.

    Only `anyOf`, `const`, `enum`, `pattern`, closed objects and fixed arrays are used, which llama.cpp, xgrammar and
    outlines all turn into grammars. Keys come in the order of `properties`.
    """
    return {"anyOf": [_form(offer, reach) for offer in offers(skill, reach, refused)]}


def _form(offer: Offer, reach: Reach) -> dict[str, Any]:
    properties: dict[str, Any] = {"mechanic": {"const": offer.mechanic.name}}
    properties |= {"theme": {"enum": list(THEMES)}}
    properties |= {"title": {"type": "string", "pattern": TITLES[reach]}}
    properties |= {"story": {"type": "string", "pattern": STORIES[reach]}}
    properties |= {choice.knob.name: {"enum": list(choice.values)} for choice in offer.choices}
    properties |= {"plan": {"enum": list(offer.mechanic.plans)}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_blueprint(text: str, skill: Skill, reach: Reach = "all") -> Blueprint | Malformed:
    """Read a reply; anything the schema of a first try does not allow is a reason, never a repair."""
    if len(text) > MAX_REPLY:
        return Malformed(f"The reply has {len(text)} characters; a blueprint has at most {MAX_REPLY}.")
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        return Malformed(f"The reply is not one JSON object: {error}.")
    if not isinstance(value, dict):
        return Malformed("The reply is not a JSON object.")
    name = value.get("mechanic")
    offered = {offer.mechanic.name: offer for offer in offers(skill, reach)}
    offer = offered.get(name) if isinstance(name, str) else None
    if offer is None:
        return Malformed(f"The mechanic must be one of: {', '.join(offered)}.")
    reason = _violation(value, _form(offer, reach))
    if reason:
        return Malformed(reason)
    return _blueprint(offer.mechanic, value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _violation(value: dict[str, Any], form: dict[str, Any]) -> str:
    properties: dict[str, Any] = form["properties"]
    missing, unknown = properties.keys() - value.keys(), value.keys() - properties.keys()
    if missing or unknown:
        return f"Keys missing: {', '.join(sorted(missing)) or 'none'}; keys unknown: {len(unknown)}."
    for key, rule in properties.items():
        got = value[key]
        if "pattern" in rule:
            if not isinstance(got, str) or not re.fullmatch(rule["pattern"][1:-1], got):
                return f"{key} must match {rule['pattern']}."
        elif not any(type(got) is type(allowed) and got == allowed for allowed in _allowed(rule)):
            return f"{key} must be one of: {', '.join(map(str, _allowed(rule)))}."
    return ""


def _allowed(rule: dict[str, Any]) -> list[Value]:
    return rule["enum"] if "enum" in rule else [rule["const"]]


def _blueprint(mechanic: Mechanic, value: dict[str, Any]) -> Blueprint:
    return Blueprint(
        mechanic=mechanic.name,
        knobs=tuple((knob.name, value[knob.name]) for knob in mechanic.knobs),
        theme=value["theme"],
        title=value["title"],
        story=value["story"],
        plan=value["plan"],
    )


def blueprint_text(blueprint: Blueprint) -> str:
    """The JSON text that `parse_blueprint` reads as this blueprint."""
    head = {"mechanic": blueprint.mechanic, "theme": blueprint.theme}
    head |= {"title": blueprint.title, "story": blueprint.story}
    return canonical({**head, **dict(blueprint.knobs), "plan": blueprint.plan})
