"""Numbers and texts as a person reads them. A missing number is the empty text: the template then gives the reason."""

import re
from typing import Any

from spade.identity import canonical
from spade.skills import Skill

MINUS = "\u2212"
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def real(value: float | None) -> str:
    """Two decimals."""
    return "" if value is None else f"{value:.2f}".replace("-", MINUS)


def signed(value: float | None) -> str:
    """Two decimals with a sign, but no sign at what rounds to zero."""
    if value is None:
        return ""
    text = f"{value:+.2f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f}\u00a0%"


def count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def money(value: float | None) -> str:
    """In the price table's currency: two decimals, or three digits that count for less than 1."""
    if value is None:
        return ""
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.3g}"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f}\u00a0ms"
    if seconds < 9.95:
        return f"{seconds:.1f}\u00a0s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest}\u00a0s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}\u00a0h {minutes:02d}\u00a0min" if hours else f"{minutes}\u00a0min {rest:02d}\u00a0s"


def plural(number: int, thing: str) -> str:
    """`3 slots`, `1 slot`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def skill_words(skill: str) -> str:
    """A skill as a person writes it; a name nobody knows stays as it is."""
    return Skill(skill).words if skill in set(Skill) else skill


def json_text(value: Any) -> str:
    """A JSON value on one line; text without its quotes."""
    return value if isinstance(value, str) else canonical(value)


def visible(text: str) -> str:
    """The text with control characters and those that reorder others made visible, so that a page shows what is there.

    Tabs and line feeds stay, carriage returns before a line feed go, half surrogate pairs become U+FFFD.
    """
    whole = text.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    return _HIDDEN.sub(_shown, whole)


def _shown(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def file_name(identity: str) -> str:
    """A page's file name for an id."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", identity).lstrip(".") + ".html"
