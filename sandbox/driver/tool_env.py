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

An action is one call as JSON, `{"name": "find_order", "arguments": {"order_id": "A1"}}`, or the word `done` (all
requests are fulfilled) or `decline` (no tool can fulfil this one), or a list of calls and words. A request is complete
once its criterion holds after a call. `done` pays 1.0 when all are complete, else 0, and ends the episode; so does
declining what could be done. A tool says no by raising `self.Refused("why")`: the agent sees the reason.
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
WORDS = ("done", "decline")
NOT_A_CALL, EMPTY_LIST = object(), object()
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
        self.over = False

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

    def call(self, name: str, /, **arguments: Any) -> str:
        """One tool call as an action."""
        return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)

    # The environment.

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.state, self.requests, self.current, self.turns, self.over = {}, [], 0, 0, False
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
        """Take one action: a call, a word, or a list of calls and words, in order up to the end of the episode."""
        if self.over:
            return "The episode is over.", 0.0, True, False, {}
        self.turns += 1
        lines: list[str] = []
        reward, ended = 0.0, False
        for part in self.parts(action):
            if part == "done":
                line, reward = self.finished()
                lines, ended = [*lines, line], True
            elif part == "decline":
                said, ended = self.declined()
                lines += said
            else:
                lines += self.results(part)
            if ended:
                break
        truncated = not ended and self.turns >= self.max_turns
        self.over = ended or truncated
        return "\n".join(lines), reward, ended, truncated, {}

    def parts(self, action: str) -> list[Any]:
        """What an action holds: calls as objects, words as texts, and what is neither as it stands."""
        word = action.strip().strip(".").lower()
        if word in WORDS:
            return [word]
        try:
            found = json.loads(action)
        except (ValueError, RecursionError):
            return [NOT_A_CALL]
        items = found if isinstance(found, list) else [found]
        return items[:MAX_CALLS] or [EMPTY_LIST]

    def format(self) -> str:
        example = self.call(next(iter(self.schemas)))
        return FORMAT.format(example=example.replace("{}", '{"...": "..."}'))

    def asking(self) -> str:
        text, _ = self.requests[self.current]
        return f"Request {self.current + 1} of {len(self.requests)}: {text}"

    def finished(self) -> tuple[str, float]:
        complete = self.current == len(self.requests)
        return "Every request is fulfilled." if complete else "Not every request is fulfilled.", float(complete)

    def declined(self) -> tuple[list[str], bool]:
        """What to say, and whether declining ends the episode: it does where the request could be fulfilled."""
        if self.current == len(self.requests):
            return ["There is nothing left to decline."], False
        if self.requests[self.current][1] is not None:
            return ["This request could be fulfilled with the tools."], True
        return self.advance(), False

    def results(self, call: Any) -> list[str]:
        """What a call answered, and what became of the request."""
        lines = [self.perform(call)]
        while self.current < len(self.requests) and self.holds():
            lines += self.advance()
        return lines

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
        if call is NOT_A_CALL:
            return f"This is not a call. {self.format()}"
        if call is EMPTY_LIST:
            return f"The list of calls is empty. {self.format()}"
        if isinstance(call, dict) and isinstance(call.get("malformed"), str):
            return f"Error: {call['malformed']}"
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
