r"""What an agent said to a tool-use environment: calls, an answer, and calls gone wrong, all kept and in order.

Read are JSON calls in `<tool_call>` tags (Hermes), with nested arguments; XML calls, `<function=name>` with
`<parameter=key>` (Qwen); JSON calls bare, in a fence, after `[TOOL_CALLS]`, or in a box; and an answer in a box or as
the word `done` or `decline` on a line of its own. A call that cannot be read becomes a message that says how to write
it, never a call without arguments.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spade.boxes import last_box, without_thoughts
from spade.json_texts import Broken, json_value, json_values, kind_of
from spade.messages import Completion

MAX_REPLY = 1_000_000
EXAMPLE = '{"name": "tool_name", "arguments": {"key": "value"}}'
WORDS = ("done", "decline")

_MARK = re.compile(
    r"<tool_call>(?P<tagged>.*?)(?:</tool_call>|(?=<tool_call>)|\Z)"
    r"|(?P<xml><function=.*?(?:</function>|\Z))"
    r"|\[TOOL_CALLS\]\s*(?P<listed>[\[{].*)"
    r"|^[ \t]*```(?:json|tool_call)?[ \t]*\n(?P<fenced>\s*[\[{].*?)^[ \t]*```[ \t]*$"
    r"|^[ \t]*(?P<word>done|decline)[ \t]*[.!]?[ \t]*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_EMBEDDED = re.compile(r"[\[{]\s*(?:\{\s*)?\"(?:name|function)\"\s*:")
_FUNCTION = re.compile(r"\s*<function=([^<>\n]{0,200})>(.*?)(?:</function>|\Z)\s*", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\n]{0,200})>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `arguments` is a JSON object."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Malformed:
    """What was meant as a call, as it stood, and what to tell the agent."""

    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent said beside its calls: a word that ends or declines, or the content of its box."""

    text: str


Part = Call | Malformed | Answer


@dataclass(frozen=True, slots=True)
class ToolReply:
    """All parts of a reply in the order in which they were said."""

    parts: tuple[Part, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(part.problem for part in self.parts if isinstance(part, Malformed))

    @property
    def answer(self) -> str | None:
        """The last answer, None where there is none."""
        return next((part.text for part in reversed(self.parts) if isinstance(part, Answer)), None)


def parse_tools(text: str, schemas: Mapping[str, Mapping[str, Any]] | None = None) -> ToolReply:
    """Read a reply. `schemas` maps a tool's name to the JSON schema of its parameters, by which the texts of XML calls
    become numbers, lists and objects; without it they stay texts. Never raises."""
    if len(text) > MAX_REPLY:
        problem = f"The reply has {len(text)} characters, more than the {MAX_REPLY} allowed."
        return ToolReply((Malformed(text[:200], problem),))
    text = without_thoughts(text)
    parts = list(_marked(text, schemas or {}))
    if any(isinstance(part, Call | Malformed) for part in parts):
        box = last_box(_MARK.sub(" ", text))
        return ToolReply((*parts, *(_in_box(box) if box is not None else ())))
    box = last_box(text)
    if box is not None:
        return ToolReply((*parts, *_in_box(box)))
    return ToolReply(tuple(parts) or tuple(_bare(text.strip())))


def text_beside_calls(text: str) -> str:
    """What a reply says besides its calls, thoughts included; words that end or decline stay."""
    beside = _MARK.sub(lambda match: match[0] if match["word"] else "", text)
    box = last_box(beside)
    if box is not None and box.startswith(("{", "[")):
        beside = beside.replace("\\boxed{" + box + "}", "")
    elif embedded := _EMBEDDED.search(beside):
        beside = beside[: embedded.start()]
    return beside.strip()


def of_completion(completion: Completion, schemas: Mapping[str, Mapping[str, Any]] | None = None) -> ToolReply:
    """The same for a completion whose engine has already read its calls; of its text then only an answer counts."""
    text = completion.text.strip()
    said = parse_tools(text, schemas) if text else ToolReply(())
    native = [_named(call.name, json_value(call.arguments or "{}"), call.arguments) for call in completion.tool_calls]
    if not native:
        return said
    closing = [part for part in said.parts if isinstance(part, Answer) and (part.text in WORDS or part.text != text)]
    return ToolReply((*native, *closing))


def action_of_reply(reply: ToolReply, text: str) -> str:
    """What a tool-use environment gets: all parts as one action in JSON; the text itself where it holds none.

    A malformed call is passed on with its problem, so that the environment answers it.
    """
    items: list[Any] = []
    for part in reply.parts:
        if isinstance(part, Call):
            items.append({"name": part.name, "arguments": part.arguments})
        elif isinstance(part, Answer):
            items.append(part.text)
        else:
            items.append({"malformed": part.problem})
    if len(items) == 1:
        return items[0] if isinstance(items[0], str) else json.dumps(items[0], ensure_ascii=False)
    return json.dumps(items, ensure_ascii=False) if items else text.strip()


def _marked(text: str, schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    for match in _MARK.finditer(text):
        if match["word"]:
            yield Answer(match["word"].lower())
        elif match["xml"]:
            yield from _xml(match["xml"], schemas)
        elif match["tagged"] is not None and "<function=" in match["tagged"]:
            yield from _xml(match["tagged"], schemas)
        elif match["tagged"] is not None:
            yield from _from_json(match["tagged"])
        elif match["fenced"]:
            yield from _calls_only(match["fenced"])
        else:
            yield from _from_json(match["listed"], partial=True)


def _calls_only(text: str) -> Iterator[Part]:
    """A fenced block of JSON: calls where it looks like calls, else nothing of ours."""
    if '"name"' in text:
        yield from _from_json(text)


def _in_box(content: str) -> Iterator[Part]:
    if content.startswith(("{", "[")):
        yield from _from_json(content)
    elif content:
        yield Answer(content.lower() if content.lower() in WORDS else content)


def _bare(text: str) -> Iterator[Part]:
    if text.startswith(("{", "[")):
        yield from _from_json(text)
    elif embedded := _EMBEDDED.search(text):
        yield from _from_json(text[embedded.start() :], partial=True)
    elif text:
        yield Answer(text)


def _from_json(text: str, *, partial: bool = False) -> Iterator[Part]:
    """The calls of a JSON text: one object, a list of them, or objects one after another."""
    values = json_values(text.strip(), partial=partial)
    for value in values:
        for item in value if isinstance(value, list) else [value]:
            yield _call(item, text.strip())


def _call(value: Any, text: str) -> Part:
    if isinstance(value, Broken):
        return Malformed(text, f"This call is not JSON: {value.why}. Write {EXAMPLE}.")
    if isinstance(value, str) and value.lower() in WORDS:
        return Answer(value.lower())
    if not isinstance(value, dict):
        return Malformed(text, f"A call is an object, not {kind_of(value)}. Write {EXAMPLE}.")
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    given = next((value[key] for key in ("arguments", "parameters", "args", "input") if key in value), None)
    if given is None and "name" in value and len(value) > 1:
        return Malformed(text, f'The call has no "arguments". Write {EXAMPLE}.')
    return _named(value.get("name"), {} if given is None else given, text)


def _named(name: Any, given: Any, text: str) -> Part:
    if not isinstance(name, str) or not name.strip():
        return Malformed(text, f'The call has no "name". Write {EXAMPLE}.')
    if isinstance(given, str):
        given = json_value(given)
    if isinstance(given, Broken):
        return Malformed(text, f"The arguments of {name} are not JSON: {given.why}. Write them as an object.")
    if not isinstance(given, dict):
        return Malformed(text, f"The arguments of {name} must be an object, not {kind_of(given)}. Write {EXAMPLE}.")
    return Call(name.strip(), given)


def _xml(text: str, schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    found = list(_FUNCTION.finditer(text))
    if not found:
        yield Malformed(text.strip(), f"The call is cut off. Write {EXAMPLE}.")
    for match in found:
        name, body = match[1].strip().strip("\"'"), match[2]
        if not name:
            yield Malformed(match[0].strip(), "The call names no tool. Write <function=tool_name>.")
        elif body.strip().startswith("{"):
            yield _named(name, json_value(body.strip()), match[0].strip())
        else:
            yield _with_parameters(name, body, schemas.get(name, {}))


def _with_parameters(name: str, body: str, schema: Mapping[str, Any]) -> Part:
    properties = schema.get("properties", {})
    arguments: dict[str, Any] = {}
    for key, value in _PARAMETER.findall(body):
        key = key.strip().strip("\"'")
        typed = _typed(value, properties.get(key, {}))
        if isinstance(typed, Broken):
            return Malformed(body.strip(), f"Parameter {key} of {name} is not {typed.why}.")
        arguments[key] = typed
    rest = _PARAMETER.sub("", body).strip()
    if rest:
        form = f"<function={name}><parameter=key>value</parameter></function>"
        return Malformed(body.strip(), f"Between the parameters of {name} stands {rest[:60]!r}. Write {form}.")
    return Call(name, arguments)


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """A parameter's text as its declared type; line breaks next to the tags belong to the form."""
    text = text.removeprefix("\n").removesuffix("\n")
    kind = schema.get("type", "string")
    if kind == "string" or isinstance(kind, list):
        return text
    value = json_value(text.strip().lower() if kind == "boolean" else text.strip())
    return Broken(f"{'an' if kind[:1] in 'aio' else 'a'} {kind}: {text[:60]!r}") if isinstance(value, Broken) else value
