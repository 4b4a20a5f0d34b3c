"""The settings reference, made from the models: `python -m flows.settings_page > docs/settings.md`."""

from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from flows.configuring import group_of
from spade.settings import FactorySettings

HEAD = """# Settings

Made from the models by `python -m flows.settings_page`; a test keeps it current.

Each setting can be written into `spade.toml` (`[cycle]`, then `slots = 4`), into the environment
(`SPADE_CYCLE__SLOTS=4`), or into a profile of your own (`[profiles.NAME.cycle]`). Flags win over the environment, the
environment over the file, the file over the shipped profile. `spade settings` prints what a run would use; an unknown
name is refused with the nearest known one.
"""


def settings_markdown() -> str:
    """The whole page: a section a group, a row a setting."""
    return "\n".join([HEAD, *_sections(FactorySettings, "")]).rstrip() + "\n"


def _sections(model: type[BaseModel], path: str) -> Iterator[str]:
    fields = model.model_fields
    groups = {n: group for n, f in fields.items() if (group := group_of(f.annotation)) is not None}
    plain = {name: field for name, field in fields.items() if name not in groups}
    if plain:
        yield f"## `[{path}]`\n" if path else "## At the top\n"
        if path:
            yield cleandoc(model.__doc__ or "") + "\n"
        yield "| setting | value | default | what it does |\n|---|---|---|---|"
        yield from (_row(name, field) for name, field in plain.items())
        yield ""
    for name, group in groups.items():
        yield from _sections(group, f"{path}.{name}" if path else name)


def _row(name: str, field: FieldInfo) -> str:
    what = " ".join(cleandoc(field.description or "").split())
    return f"| `{name}` | {_kind(field)} | {_default(field)} | {_escaped(what)} |"


def _kind(field: FieldInfo) -> str:
    limits = [
        f"{word} {getattr(m, attribute):g}"
        for m in field.metadata
        for attribute, word in _LIMITS.items()
        if _has(m, attribute)
    ]
    return _escaped(", ".join([_word(field.annotation), *limits]))


_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def _has(constraint: Any, attribute: str) -> bool:
    return isinstance(getattr(constraint, attribute, None), int | float)


def _word(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_word(a) for a in arguments if a is not type(None)) + ", or absent"
    if origin is tuple:
        return "list of " + _word(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    if hasattr(annotation, "__metadata__"):
        return _word(arguments[0])
    names = {
        int: "whole number",
        float: "number",
        bool: "true or false",
        str: "text",
        Path: "path",
        SecretStr: "secret",
    }
    return names.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value == () or value == "":
        return "–"
    return f"`{getattr(value, 'value', value)}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(settings_markdown(), end="")
