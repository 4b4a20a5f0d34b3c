"""A `Guide` in the words of each engine."""

import json
import re
from collections.abc import Mapping
from typing import Any

from spade.messages import Guide


def gbnf(guide: Guide) -> str:
    """The guide's choices or digits as a llama.cpp grammar."""
    if guide.choices:
        return "root ::= " + " | ".join(_literal(choice) for choice in guide.choices)
    parts = [_literal(guide.prefix), f"[0-9]{{1,{guide.digits}}}", _literal(guide.suffix)]
    return "root ::= " + " ".join(part for part in parts if part != '""')


def tight_json(schema: Mapping[str, Any]) -> str:
    """The schema as a llama.cpp grammar that leaves no choice of white space: half the tokens, and no model runs on in
    blanks. Only for builds with llguidance (others end at such a grammar)."""
    return "%llguidance {}\nstart: %json " + json.dumps({**schema, "x-guidance": {"whitespace_flexible": False}})


def regex(guide: Guide) -> str:
    """The guide's digits as a regular expression for the whole reply."""
    return f"{re.escape(guide.prefix)}[0-9]{{1,{guide.digits}}}{re.escape(guide.suffix)}"


def fits(guide: Guide, text: str) -> bool:
    """Whether a whole reply is one the guide allows (a schema is checked as far as: it is JSON)."""
    if guide.choices:
        return text in guide.choices
    if guide.digits:
        return re.fullmatch(regex(guide), text) is not None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", escaped) + '"'
