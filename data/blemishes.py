"""What a store of Unicode text and JSON cannot hold: named, and mended so that the rest of the record is kept."""

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

R = TypeVar("R")
_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def mended(record: R) -> tuple[R, tuple[str, ...]]:
    """The record with each lone surrogate replaced by U+FFFD, and one text a blemish: the place and what is wrong.

    Numbers that are not finite stay as they are in numeric fields and are named; inside JSON values, which cannot hold
    them, they become None.
    """
    found: list[str] = []
    return _mend(record, "", found), tuple(found)


def blemishes(record: Any) -> tuple[str, ...]:
    """What `mended` would name."""
    return mended(record)[1]


def _mend(value: Any, place: str, found: list[str]) -> Any:
    if isinstance(value, str):
        return _mend_text(value, place, found)
    if isinstance(value, float) and not math.isfinite(value):
        found.append(f"{place}: {value}")
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _mend_record(value, place, found)
    if isinstance(value, tuple):
        parts = tuple(_mend(v, f"{place}[{i}]", found) for i, v in enumerate(value))
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    if isinstance(value, list):
        return [_jsonable(_mend(v, f"{place}[{i}]", found)) for i, v in enumerate(value)]
    if isinstance(value, dict):
        return {_mend(k, place, found): _jsonable(_mend(v, f"{place}.{k!r}", found)) for k, v in value.items()}
    return value


def _mend_text(text: str, place: str, found: list[str]) -> str:
    mended_text, count = _SURROGATE.subn(REPLACEMENT, text)
    if not count:
        return text
    found.append(f"{place}: {count} lone surrogate{'s' if count > 1 else ''}")
    return mended_text if type(text) is str else text


def _mend_record(record: Any, place: str, found: list[str]) -> Any:
    changes = dict(_changes(record, place, found))
    return dataclasses.replace(record, **changes) if changes else record


def _changes(record: Any, place: str, found: list[str]) -> Iterator[tuple[str, Any]]:
    for each in dataclasses.fields(record):
        old = getattr(record, each.name)
        new = _mend(old, f"{place}.{each.name}".lstrip("."), found)
        if each.type is Any or each.type == "Any":
            new = _jsonable(new)
        if new is not old:
            yield each.name, new


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
