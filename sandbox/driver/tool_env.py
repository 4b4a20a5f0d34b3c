"""`ToolEnv`, the base class of tool-use environments. Every program finds it under that name, without an import.

A subclass declares tools, fills a state and states requests; this class reads calls, checks them against their schemas,
reveals one request after another and pays at the end:

    class OrdersEnv(ToolEnv):
        intro = "You run the order desk of a small shop."
        tools = [{"name": "find_order", "description": "Look an order up.", "parameters": {
            "type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}, ...]

        def setup(self, rng):
            self.state = {"orders": {"A1": {"status": "open"}}}
            self.request("Cancel order A1.", lambda state: state["orders"]["A1"]["status"] == "cancelled")
            self.request("Repaint the shop.", None)          # no tool can: to be declined

        def tool_find_order(self, order_id): ...

        def solution(self):
            return [self.call("cancel_order", order_id="A1"), "decline", "done"]

An action is one call as JSON, `{"name": "find_order", "arguments": {"order_id": "A1"}}`, or a list of calls, or the
word `done` (all requests are fulfilled) or `decline` (no tool can fulfil this one). A request is complete once its
criterion holds after a call. `done` pays 1.0 when all are complete, else 0, and ends the episode; so does declining
what could be done. A tool says no by raising `self.Refused("why")`: the agent sees the reason.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from .tool_schemas import ContractError, check_tools, declared, wrong_argument

Criterion = Callable[[dict[str, Any]], bool]

MIN_REQUESTS, MAX_REQUESTS = 3, 5
MAX_CALLS = 8
"""Calls in one action."""
FORMAT = (
    "Act with one call, {example}, or a list of calls. "
    "Answer done when every request is fulfilled, or decline when no tool can fulfil the current one."
)


class Refused(Exception):
    """A tool's way of saying no; its text is the tool's result."""


class ToolEnv:
    """See the module's docstring for what a subclass provides."""

    intro: str = ""
    tools: list[dict[str, Any]] = []  # noqa: RUF012
    max_turns: int = 20
    Refused = Refused

    def __init__(self, max_turns: int | None = None) -> None:
        self.max_turns = type(self).max_turns if max_turns is None else max_turns
        self.schemas = declared(self.tools)
        check_tools(self, self.schemas)
        self.state: dict[str, Any] = {}
        self.requests: list[tuple[str, Criterion | None]] = []
        self.current = self.turns = 0

    # What a subclass provides.

    def setup(self, rng: random.Random) -> None:
        """Fill `self.state` and state the requests, all from `rng`."""
        raise NotImplementedError("a tool environment defines setup(self, rng)")

    def solution(self) -> list[str]:
        """The actions that fulfil every request of the instance just reset, `done` at the end."""
        raise NotImplementedError("a tool environment defines solution(self)")

    # What a subclass calls.

    def request(self, text: str, criterion: Criterion | None) -> None:
        """Add a request. `criterion` says from the state whether it is fulfilled; None: it has to be declined."""
        self.requests.append((text, criterion))

    def call(self, name: str, **arguments: Any) -> str:
        """One tool call as an action."""
        return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)

    # The environment.

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.state, self.requests, self.current, self.turns = {}, [], 0, 0
        self.setup(random.Random(seed))
        if not MIN_REQUESTS <= len(self.requests) <= MAX_REQUESTS:
            raise ContractError(f"setup must state {MIN_REQUESTS} to {MAX_REQUESTS} requests, not {len(self.requests)}")
        for number, (_, criterion) in enumerate(self.requests, 1):
            if criterion is not None and criterion(self.state):
                raise ContractError(f"the criterion of request {number} holds before anything was done")
        listed = "\n".join(json.dumps(schema, ensure_ascii=False) for schema in self.schemas.values())
        parts = [self.intro, f"<tools>\n{listed}\n</tools>", self.format(), self.asking()]
        return "\n\n".join(part for part in parts if part), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.turns += 1
        word = action.strip().strip(".").lower()
        if word == "done":
            return self.finished()
        if word == "decline":
            return self.declined()
        text = "\n".join(self.results(action))
        return text, 0.0, False, self.turns >= self.max_turns, {}

    def format(self) -> str:
        example = self.call(next(iter(self.schemas)))
        return FORMAT.format(example=example.replace("{}", '{"...": "..."}'))

    def asking(self) -> str:
        text, _ = self.requests[self.current]
        return f"Request {self.current + 1} of {len(self.requests)}: {text}"

    def finished(self) -> tuple[str, float, bool, bool, dict[str, Any]]:
        complete = self.current == len(self.requests)
        text = "Every request is fulfilled." if complete else "Not every request is fulfilled."
        return text, float(complete), True, False, {}

    def declined(self) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.current == len(self.requests):
            return "There is nothing left to decline.", 0.0, False, self.turns >= self.max_turns, {}
        if self.requests[self.current][1] is not None:
            return "This request could be fulfilled with the tools.", 0.0, True, False, {}
        return "\n".join(self.advance()), 0.0, False, self.turns >= self.max_turns, {}

    def results(self, action: str) -> list[str]:
        """What each call of an action answered, and what became of the request."""
        try:
            calls = json.loads(action)
        except (ValueError, RecursionError):
            return [f"This is not a call. {self.format()}"]
        lines: list[str] = []
        for call in (calls if isinstance(calls, list) else [calls])[:MAX_CALLS]:
            lines.append(self.perform(call))
            while self.current < len(self.requests) and self.holds():
                lines += self.advance()
        return lines or [f"The list of calls is empty. {self.format()}"]

    def holds(self) -> bool:
        criterion = self.requests[self.current][1]
        return criterion is not None and bool(criterion(self.state))

    def advance(self) -> list[str]:
        self.current += 1
        over = self.current == len(self.requests)
        following = "That was the last request. Answer done." if over else self.asking()
        return [f"Request {self.current} is complete.", following]

    def perform(self, call: Any) -> str:
        """Make one call; every mistake in it comes back as a message."""
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return f'Error: a call is an object with "name" and "arguments". {self.format()}'
        name, arguments = call["name"], call.get("arguments", {})
        if name not in self.schemas:
            return f"Error: there is no tool {name!r}. The tools are {', '.join(self.schemas)}."
        problem = wrong_argument(self.schemas[name], arguments)
        if problem:
            return f"Error: {name}: {problem}."
        try:
            result = getattr(self, f"tool_{name}")(**arguments)
        except Refused as refusal:
            return f"Error: {name}: {refusal}"
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
