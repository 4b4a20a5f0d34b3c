"""What engines behind the same OpenAI API take and give beyond it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from inference import guides
from spade.messages import Guide, Request, Sampling


class Dialect(StrEnum):
    """Which engine answers. `OPENAI` is any other one, taken at the API's word."""

    LLAMA_CPP = "llama.cpp"
    VLLM = "vllm"
    OPENAI = "openai"

    @classmethod
    def of_owner(cls, owner: str) -> "Dialect":
        """From `owned_by` in the endpoint's list of models."""
        return {"llamacpp": cls.LLAMA_CPP, "vllm": cls.VLLM}.get(owner, cls.OPENAI)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on the wire. `guided`: the engine was asked to enforce the guide. `draws`: the log-probabilities it
    will give are those of the distribution it draws from, not the model's own. `lead`: the start of the reply that was
    given with the prompt, since the guide leaves no choice there."""

    body: Mapping[str, Any]
    guided: bool = False
    draws: bool = False
    lead: str = ""


RENAMED = {"max_tokens": "max_completion_tokens"}
OPTIONAL = frozenset({"top_k", "top_p", "temperature", "seed", "response_format", "max_tokens"})
"""What an endpoint of the plain dialect may refuse; it is then asked again without (or by the newer name)."""


def ask(
    request: Request,
    model: str,
    dialect: Dialect,
    *,
    draws: bool = False,
    llguidance: bool = False,
    refused: frozenset[str] = frozenset(),
) -> Asked:
    """The request as `dialect` takes it, without what this endpoint has `refused` before. `draws`: its
    log-probabilities are known to be those of the distribution it draws from. `llguidance`: it is built with that
    library of grammars."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [message.wire() for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "stream": False,
    }
    if sampling.top_k or dialect is not Dialect.OPENAI:
        body["top_k"] = sampling.top_k
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if request.tools:
        body["tools"] = list(request.tools)
    guided, lead = False, ""
    if (guide := request.guide) is not None:
        lead = guide.lead if dialect is Dialect.LLAMA_CPP and not request.tools else ""
        if lead:  # reading a token costs a third of drawing one under a grammar
            body["messages"].append({"role": "assistant", "content": lead})
            guide = guide.after(lead)
        constraint = _constraint(guide, dialect, llguidance=llguidance, has_tools=bool(request.tools))
        guided = bool(constraint) and not refused & constraint.keys()
        body |= constraint
    draws = _ask_for_tokens(body, dialect, guided=guided) or draws or _plain(sampling, guided=guided)
    for name in refused & body.keys():
        value = body.pop(name)
        if name in RENAMED:
            body[RENAMED[name]] = value
    return Asked(body, guided, draws, lead)


def _constraint(guide: Guide, dialect: Dialect, *, llguidance: bool, has_tools: bool) -> dict[str, Any]:
    """The fields that enforce the guide; empty where this engine cannot."""
    if dialect is Dialect.VLLM and guide.schema is None:
        words = {"choice": list(guide.choices)} if guide.choices else {"regex": guides.regex(guide)}
        return {"structured_outputs": words}
    if dialect is Dialect.LLAMA_CPP and has_tools:
        return {}  # it refuses a grammar beside tools
    if guide.schema is not None and llguidance:
        return {"grammar": guides.tight_json(guide.schema)}
    if guide.schema is not None:
        named = {"name": "reply", "schema": guide.schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"grammar": guides.gbnf(guide)} if dialect is Dialect.LLAMA_CPP else {}


def _plain(sampling: Sampling, *, guided: bool) -> bool:
    """Whether the model's own distribution is what is drawn from."""
    return sampling.temperature == 1.0 and sampling.top_p == 1.0 and sampling.top_k == 0 and not guided


def _ask_for_tokens(body: dict[str, Any], dialect: Dialect, *, guided: bool) -> bool:
    """Ask for token ids and log-probabilities, and switch off whatever else would shape the draw. Whether the
    log-probabilities will be those of the draw, as far as the request decides it."""
    match dialect:
        case Dialect.LLAMA_CPP:
            # A grammar is applied by drawing again, so that after-the-draw numbers say nothing under a guide.
            body |= {"logprobs": True, "top_logprobs": 1, "min_p": 0.0, "post_sampling_probs": not guided}
            return not guided
        case Dialect.VLLM:
            body |= {"logprobs": True, "top_logprobs": 0, "min_p": 0.0, "repetition_penalty": 1.0}
            body |= {"return_token_ids": True}
    return False
