"""Templates of this package. In programs every expression becomes a Python literal, so data can never become code."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from spade.identity import digest


def literal(value: Any) -> str:
    """The Python literal of a JSON-like value, in ASCII. Raises `TypeError` on anything else."""
    match value:
        case bool() | int() | None:
            return repr(value)
        case str():
            return ascii(value)
        case list() | tuple():
            return "[" + ", ".join(literal(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"no literal for {type(value).__name__}")


@cache
def _programs() -> Environment:
    return _environment("mechanics", finalize=literal)


@cache
def _prompts() -> Environment:
    return _environment("prompts")


def _environment(folder: str, **options: Any) -> Environment:
    return Environment(
        loader=PackageLoader("spade.blueprints", folder),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


def render_program(mechanic: str, values: dict[str, Any]) -> str:
    """A mechanic's template with every value as a literal."""
    return _programs().get_template(f"{mechanic}.py.j2").render(values)


def render_prompt(template: str, values: dict[str, Any]) -> tuple[str, str]:
    """A prompt's text and the hash of its template."""
    environment = _prompts()
    source, _, _ = environment.loader.get_source(environment, template) if environment.loader else ("", None, None)
    return environment.get_template(template).render(values).strip(), digest(source)[:16]
