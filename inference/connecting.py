"""Knock before the run starts: does the endpoint answer, does it know the model, what can it do."""

import asyncio
import json
import os
import time
from typing import Any

from pydantic import SecretStr

from inference import faults
from inference.dialects import Dialect
from inference.endpoint import Endpoint, Patience, Served
from inference.wire import Reply, Wire
from spade.errors import Abort, Retry, SpadeError
from spade.settings import ModelSettings

KNOCKS = 3
KNOCK_SECONDS = 20.0
LOADING_SECONDS = 300.0
PAUSE = 0.5
KEY_VARIABLES = ("SPADE_API_KEY", "OPENAI_API_KEY")


async def connect(
    settings: ModelSettings, base_url: str, *, weights: str | None = None, llguidance: bool = False
) -> Endpoint:
    """The endpoint at `base_url`, known to answer and to have the model. `weights` names the version; the model's own
    name when absent. `llguidance`: the server is known to be built with it. Raises `Abort` with a remedy for everything
    that would fail every call."""
    wire = Wire(base_url, settings.api_key or _key_from_environment())
    try:
        models = await _models(wire, optional=settings.name is not None)
        entry = _chosen(models, settings.name, wire)
        name = str(entry["id"])
        dialect = Dialect.of_owner(str(entry.get("owned_by", "")))
        draws = dialect is Dialect.VLLM and await _draws(wire, name, settings.timeout_seconds)
        served = Served(name, weights or name, dialect, settings.price_per_million, draws, llguidance)
        patience = Patience(settings.retries)
        return Endpoint(wire, served, settings.concurrency, settings.timeout_seconds, patience)
    except BaseException:
        await wire.aclose()
        raise


def _key_from_environment() -> SecretStr | None:
    return next((SecretStr(os.environ[name]) for name in KEY_VARIABLES if os.environ.get(name)), None)


async def _models(wire: Wire, *, optional: bool) -> list[dict[str, Any]] | None:
    """The endpoint's list of models; None where it has none and a name was given (`optional`)."""
    reply = await _knock(wire)
    if reply.status == 404 and optional:
        return None
    listed = _listed(reply)
    if listed is not None:
        return listed
    if reply.status not in (200, 404):
        error = faults.from_status(reply.status, reply.headers, reply.text, wire.shown, "")
        raise Abort(error.message, error.remedy)
    what = "a web page" if faults.looks_like_html(reply.text) else f"no list of models ({reply.status})"
    raise Abort(f"{wire.shown} answers with {what}.", await _better_address(wire))


async def _knock(wire: Wire) -> Reply:
    """A server that says it is still loading its model gets `LOADING_SECONDS`; any other fault `KNOCKS` tries."""
    knock, loaded_by = 0, time.monotonic() + LOADING_SECONDS
    while True:
        try:
            reply = await wire.exchange("GET", wire.within("models"), seconds=KNOCK_SECONDS)
        except SpadeError as fault:
            if not isinstance(fault, Retry) or knock == KNOCKS - 1:
                raise Abort(fault.message, f"{fault.remedy} A local one starts with `spade serve-model`.") from fault
        else:
            loading = reply.status == 503 and "loading" in reply.text[:500].lower() and time.monotonic() < loaded_by
            if not loading and (reply.status < 500 or knock == KNOCKS - 1):
                return reply
            knock -= loading
        await asyncio.sleep(PAUSE * 2 ** max(0, knock))
        knock += 1


def _listed(reply: Reply) -> list[dict[str, Any]] | None:
    try:
        value = json.loads(reply.body) if reply.status == 200 else None
    except (ValueError, RecursionError):
        return None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        return None
    return [entry for entry in data if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


async def _better_address(wire: Wire) -> str:
    """Most often it is the missing /v1."""
    try:
        reply = await wire.exchange("GET", wire.within("v1/models"), seconds=KNOCK_SECONDS)
    except SpadeError:
        reply = None
    if reply is not None and _listed(reply) is not None:
        return f"Set model.base_url to {wire.shown}/v1."
    return "model.base_url must be the root of an OpenAI-compatible API, usually ending in /v1."


def _chosen(models: list[dict[str, Any]] | None, name: str | None, wire: Wire) -> dict[str, Any]:
    if models is None:
        return {"id": name}
    if name is None:
        if not models:
            raise Abort(f"{wire.shown} serves no model.", "Load one there, or set model.name.")
        return models[0]
    for entry in models:
        if name == entry["id"] or name in (entry.get("aliases") or ()):
            return {**entry, "id": name}
    known = ", ".join(sorted(entry["id"] for entry in models)[:10]) or "none"
    raise Abort(f"{wire.shown} has no model {name!r}.", f"Set model.name to one it has: {known}.")


async def _draws(wire: Wire, name: str, seconds: float) -> bool:
    """Whether a vLLM server returns log-probabilities after temperature and truncation (`--logprobs-mode
    processed_logprobs`): with one candidate left, the drawn token's is then 0."""
    body = {"model": name, "prompt": "a", "max_tokens": 1, "top_k": 1, "temperature": 1.0, "logprobs": 0}
    try:
        reply = await wire.ask(wire.within("completions"), body, seconds=seconds)
        return abs(float(reply["choices"][0]["logprobs"]["token_logprobs"][0])) < 1e-6
    except (SpadeError, ValueError, KeyError, TypeError, IndexError):
        return False
