"""What is said to a model and what comes back: requests, completions, token records."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from typing import Any, Literal

from spade.identity import content_id


class Role(StrEnum):
    """Who is asking the model: one set of weights may play all of them (self-play)."""

    DESIGNER = "designer"
    AGENT = "agent"
    HINT = "hint"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model made it. `arguments` is the JSON text on the wire, exactly."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message in OpenAI's form."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    def wire(self) -> dict[str, Any]:
        """The message as the OpenAI chat API takes it."""
        body: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            body["tool_calls"] = [
                {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in self.tool_calls
            ]
        if self.tool_call_id:
            body["tool_call_id"] = self.tool_call_id
        return body


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. `top_k` 0 is off; `seed` None leaves the draw to the engine."""

    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_tokens: int = 8192
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Guide:
    """What a reply must look like, enforced while decoding. Exactly one field is set.

    `schema`: a JSON schema for the whole reply. `choices`: the reply is one of these texts. `digits`: the reply is
    `prefix`, then 1 to `digits` decimal digits, then `suffix`. A guided completion is recorded as guided.
    """

    schema: dict[str, Any] | None = None
    choices: tuple[str, ...] = ()
    digits: int = 0
    prefix: str = ""
    suffix: str = ""

    def __post_init__(self) -> None:
        if sum((self.schema is not None, bool(self.choices), self.digits > 0)) != 1:
            raise ValueError("a guide is a schema, a list of choices, or a number of digits: exactly one of them")

    @property
    def lead(self) -> str:
        """What every allowed reply begins with, up to the end of a word; something is always left to say after it."""
        if not self.choices:
            return self.prefix
        first, last = min(self.choices), max(self.choices)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first[:-1], last[:-1], strict=False)))
        while shared and (first[shared - 1].isalnum() or any(len(choice) <= shared for choice in self.choices)):
            shared -= 1
        return first[:shared]

    def after(self, lead: str) -> "Guide":
        """The guide for what follows once `lead` is said."""
        if self.choices:
            return replace(self, choices=tuple(choice.removeprefix(lead) for choice in self.choices))
        return replace(self, prefix=self.prefix.removeprefix(lead))


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model. `tools` are OpenAI function declarations."""

    messages: tuple[Message, ...]
    sampling: Sampling
    role: Role
    tools: tuple[dict[str, Any], ...] = ()
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a completion cost. `cost` is in the price table's currency; None where no price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens exactly as sampled, never re-made from text (docs/method.md).

    `prompt_ids`, `output_ids`: token ids; `logprobs`: one natural logarithm per output id. A field the engine did not
    return is None: such a record can feed SFT, never RL. `logprobs_of` says whose log-probabilities they are:
    `sampling`, the distribution the tokens were drawn from (temperature, top-p and top-k applied), or `model`, the
    model's own at temperature 1; the two are the same when the draw is plain.
    `allowed`: what a guide left to choose from, one tuple an output id, empty where all was allowed; the
    log-probabilities are then those of that choice.
    """

    prompt_ids: tuple[int, ...] | None = None
    output_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    logprobs_of: Literal["", "sampling", "model"] = ""
    allowed: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. `finish_reason` is the engine's word (`stop`, `length`, `tool_calls`, ...)."""

    text: str
    model: str
    weights: str
    finish_reason: str = "stop"
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    tokens: Tokens | None = None
    guided: bool = False
    seconds: float = 0.0

    @property
    def completion_id(self) -> str:
        """Depends on what was said and by whom, not on how long it took."""
        calls = [(c.name, c.arguments) for c in self.tool_calls]
        return content_id("cmp", self.model, self.weights, self.reasoning, self.text, calls)
