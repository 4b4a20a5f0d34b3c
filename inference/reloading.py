"""New weights for a running vLLM server, reloaded in place or as an adapter, and what a server says of given tokens.

The vLLM server must have been started with VLLM_SERVER_DEV_MODE=1 (for weights) or
VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora (for adapters), and must read the folder: it runs on this
machine or shares the disk. Serving stands still while weights are swapped, so do it between rounds. A llama.cpp server
gets a new file (`inference.retrained`) and is started again.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inference.endpoint import Endpoint
from spade.errors import Abort

SECONDS = 600.0
START = "Start vLLM with VLLM_SERVER_DEV_MODE=1, and let it read the checkpoint's folder."


async def reload_weights(endpoint: Endpoint, folder: Path, weights: str) -> None:
    """Load a checkpoint's `model/` in place and forget cached prefixes; episodes carry `weights` from now on.

    Raises `Abort` when the server does not take them: it then still serves what it served before.
    """
    asked = {"method": "reload_weights", "kwargs": {"weights_path": str(folder.absolute())}}
    await _post(endpoint, f"{endpoint.wire.root}/collective_rpc", asked)
    await _post(endpoint, f"{endpoint.wire.root}/reset_prefix_cache", {})
    endpoint.served = replace(endpoint.served, weights=weights)


async def load_adapter(endpoint: Endpoint, folder: Path, weights: str) -> None:
    """Load a checkpoint's adapter under the checkpoint's id, ask for it from now on, and unload the one before."""
    before = endpoint.served
    await _post(
        endpoint, endpoint.wire.within("load_lora_adapter"), {"lora_name": weights, "lora_path": str(folder.absolute())}
    )
    endpoint.served = replace(before, name=weights, weights=weights)
    if before.name == before.weights:
        await _post(endpoint, endpoint.wire.within("unload_lora_adapter"), {"lora_name": before.name})


async def served_logprobs(endpoint: Endpoint, ids: Sequence[int], at: Sequence[int]) -> list[float]:
    """The server's log-probabilities of tokens `at` places of `ids`, at temperature 1: what a probe compares.

    Raises `Abort` when it does not tell them.
    """
    asked = {"model": endpoint.name, "prompt": list(ids), "max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}
    body = await _post(endpoint, endpoint.wire.within("completions"), asked)
    try:
        told = body["choices"][0]["prompt_logprobs"]
        return [float(told[place][str(ids[place])]["logprob"]) for place in at]
    except (KeyError, IndexError, TypeError, ValueError) as cause:
        raise Abort(
            f"{endpoint.wire.shown} tells no log-probabilities of a prompt.", "The probe needs a vLLM server."
        ) from cause


async def likeliest_next(endpoint: Endpoint, ids: Sequence[int], count: int = 8) -> dict[int, float]:
    """A llama.cpp server's log-probabilities of the `count` likeliest tokens after `ids`, at temperature 1.

    Raises `Abort` when it does not tell them.
    """
    asked = {"prompt": list(ids), "n_predict": 1, "n_probs": count, "temperature": 0.0, "cache_prompt": False}
    body = await _post(endpoint, f"{endpoint.wire.root}/completion", asked)
    try:
        told = body["completion_probabilities"][0]["top_logprobs"]
        return {int(entry["id"]): float(entry["logprob"]) for entry in told}
    except (KeyError, IndexError, TypeError, ValueError) as cause:
        raise Abort(
            f"{endpoint.wire.shown} tells no log-probabilities.", "This probe needs a llama.cpp server."
        ) from cause


async def _post(endpoint: Endpoint, url: str, body: Any) -> Any:
    reply = await endpoint.wire.exchange("POST", url, body, seconds=SECONDS)
    if reply.status != 200:
        raise Abort(f"{url} answered {reply.status}: {reply.text[:200]}.", START)
    try:
        return json.loads(reply.body) if reply.body else {}
    except ValueError:
        return {}  # vLLM answers some of these with a plain sentence
