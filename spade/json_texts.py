"""JSON that a model wrote: several values in a row, and a reason instead of an exception where it is none."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Broken:
    """JSON that is none, and why."""

    why: str


_DECODER = json.JSONDecoder(parse_constant=lambda word: _refuse(word))


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def json_value(text: str) -> Any:
    """The one value of a text, or `Broken`."""
    values = list(json_values(text.strip()))
    return values[0] if len(values) == 1 else Broken("one value is expected")


def json_values(text: str, *, partial: bool = False) -> Iterator[Any]:
    """The JSON values of a text, one after another; with `partial`, prose may follow them."""
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if at and partial:
                return
            yield Broken(f"{error.msg} at character {error.pos + 1}")
            return
        except (ValueError, RecursionError) as error:
            yield Broken(str(error)[:120] or "nested too deeply")
            return
        yield value
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
    if not text:
        yield Broken("it is empty")


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {
        type(None): "null",
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
    }
    return names.get(type(value), "an object")
