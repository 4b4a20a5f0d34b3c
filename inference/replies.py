"""From the reply on the wire to a `Completion`: strict where a wrong value would be learned from, lenient elsewhere."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from inference.dialects import Asked, Dialect
from inference.faults import Again, looks_like_html
from spade.errors import Skip
from spade.messages import Tokens, ToolCall, Usage

N = TypeVar("N", int, float)


class Choice:
    """The first choice of a chat completion. Raises `Again` when the body is not one, `Skip` when the engine
    refused or filtered."""

    def __init__(self, body: bytes, where: str) -> None:
        self._reply = _parsed(body, where)
        choices = self._reply.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise Again(f"{where} answered without any choice.", "Look at the endpoint's own log.")
        self._choice: dict[str, Any] = choices[0]
        message = self._choice.get("message")
        if not isinstance(message, dict):
            raise Again(f"{where} answered a choice without a message.", "Look at the endpoint's own log.")
        self._message: dict[str, Any] = message
        self.finish_reason = str(self._choice.get("finish_reason") or "stop")
        if self.finish_reason == "content_filter" or (message.get("refusal") and not message.get("content")):
            raise Skip(f"{where} refused to answer: {str(message.get('refusal') or 'content filter')[:200]}.")
        self.tool_calls = tuple(_tool_call(call, where) for call in message.get("tool_calls") or ())

    @property
    def text(self) -> str:
        content = self._message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
        return _storable(content)

    @property
    def reasoning(self) -> str:
        return _storable(self._message.get("reasoning_content") or self._message.get("reasoning"))

    def usage(self, tokens: Tokens | None, price: tuple[float, float] | None) -> Usage:
        """Counts as the engine gives them, else as many as there are ids. Price per million tokens."""
        given = self._reply.get("usage")
        given = given if isinstance(given, dict) else {}
        prompt = _count(given.get("prompt_tokens"), tokens.prompt_ids if tokens else None)
        output = _count(given.get("completion_tokens"), tokens.output_ids if tokens else None)
        cost = (prompt * price[0] + output * price[1]) / 1e6 if price else None
        return Usage(prompt, output, cost)

    def tokens(self, dialect: Dialect, asked: Asked, prompt_ids: Sequence[int] | None = None) -> Tokens | None:
        """The tokens exactly as sampled, or None. A field whose length contradicts the engine's own count, or that
        holds anything but numbers, is left out."""
        if dialect is Dialect.OPENAI:
            return None
        entries = _entries(self._choice)
        if dialect is Dialect.VLLM:
            prompt_ids = _ids(self._reply.get("prompt_token_ids"))
            output_ids = _ids(self._choice.get("token_ids"))
            logprobs = _numbers([entry.get("logprob") for entry in entries])
        else:
            output_ids = _ids([entry.get("id") for entry in entries])
            logprobs = _logs(entries) if asked.draws else _numbers([entry.get("logprob") for entry in entries])
        given = self._reply.get("usage")
        given = given if isinstance(given, dict) else {}
        output_ids = _of_length(output_ids, given.get("completion_tokens"))
        logprobs = _of_length(logprobs, len(output_ids)) if output_ids else None
        prompt = _of_length(tuple(prompt_ids) if prompt_ids else None, given.get("prompt_tokens"))
        if prompt is None and output_ids is None:
            return None
        return Tokens(prompt, output_ids, logprobs, ("sampling" if asked.draws else "model") if logprobs else "")


def _parsed(body: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as cause:
        raise Again(f"{where} answered with bytes that are not UTF-8.", "Look at the endpoint's own log.") from cause
    except (ValueError, RecursionError) as cause:
        what = "a web page" if looks_like_html(body[:64].decode("utf-8", "replace")) else "something that is not JSON"
        remedy = "model.base_url must be the API's root, usually ending in /v1."
        raise Again(f"{where} answered with {what}.", remedy) from cause
    if not isinstance(value, dict):
        raise Again(f"{where} answered with JSON that is no object.", "Is it an OpenAI-compatible endpoint?")
    return value


def _tool_call(call: Any, where: str) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise Again(f"{where} answered with a tool call that names no tool.", "Look at its tool parser.")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {})
    return ToolCall(_storable(call.get("id")), _storable(function["name"]), _storable(arguments))


def _entries(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = (choice.get("logprobs") or {}).get("content") if isinstance(choice.get("logprobs"), dict) else None
    return content if isinstance(content, list) and all(isinstance(entry, dict) for entry in content) else []


def _storable(text: Any) -> str:
    """A text without lone surrogates, which no file or database takes."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _ids(values: Any) -> tuple[int, ...] | None:
    good = isinstance(values, list) and values and all(type(v) is int and v >= 0 for v in values)
    return tuple(values) if good else None


def _numbers(values: list[Any]) -> tuple[float, ...] | None:
    good = values and all(isinstance(v, int | float) and math.isfinite(v) and v <= 1e-6 for v in values)
    return tuple(min(0.0, float(v)) for v in values) if good else None


def _logs(entries: list[Mapping[str, Any]]) -> tuple[float, ...] | None:
    values = [entry.get("prob") for entry in entries]
    return _numbers([math.log(v) if isinstance(v, float | int) and v > 0 else None for v in values])


def _of_length(values: tuple[N, ...] | None, count: Any) -> tuple[N, ...] | None:
    return values if values is not None and (not isinstance(count, int) or len(values) == count) else None


def _count(given: Any, ids: Sequence[int] | None) -> int:
    if type(given) is int and given >= 0:
        return given
    return len(ids) if ids else 0
