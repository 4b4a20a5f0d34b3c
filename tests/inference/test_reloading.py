"""New weights for a running server, against a scripted one over real HTTP."""

import json
from pathlib import Path

import pytest

from inference.dialects import Dialect
from inference.endpoint import Endpoint, Served
from inference.reloading import load_adapter, reload_weights, served_logprobs
from inference.wire import Wire
from spade.errors import Abort
from tests.fakes_endpoint import FakeEndpoint, Response, status


def endpoint(fake: FakeEndpoint) -> Endpoint:
    return Endpoint(Wire(fake.base_url), Served("m", "w0", Dialect.VLLM))


OK = Response(body=b"{}")


async def test_weights_are_reloaded_in_place_and_prefixes_forgotten(tmp_path: Path) -> None:
    async with FakeEndpoint() as fake:
        fake.roads |= {"/collective_rpc": OK, "/reset_prefix_cache": Response(body=b"")}
        served = endpoint(fake)
        await reload_weights(served, tmp_path, "ckpt-1")
        await served.aclose()
    assert [s.path for s in fake.seen] == ["/collective_rpc", "/reset_prefix_cache"]
    assert fake.seen[0].body == {"method": "reload_weights", "kwargs": {"weights_path": str(tmp_path)}}
    assert served.weights == "ckpt-1"


async def test_a_server_that_refuses_keeps_its_version_and_says_what_to_do(tmp_path: Path) -> None:
    async with FakeEndpoint() as fake:
        fake.roads |= {"/collective_rpc": status(404, "no such road")}
        served = endpoint(fake)
        with pytest.raises(Abort, match=r"404.*VLLM_SERVER_DEV_MODE=1"):
            await reload_weights(served, tmp_path, "ckpt-1")
        await served.aclose()
    assert served.weights == "w0"


async def test_adapters_are_loaded_by_name_and_the_one_before_unloaded(tmp_path: Path) -> None:
    async with FakeEndpoint() as fake:
        fake.roads |= {"/v1/load_lora_adapter": OK, "/v1/unload_lora_adapter": OK}
        served = endpoint(fake)
        await load_adapter(served, tmp_path, "ckpt-1")
        await load_adapter(served, tmp_path, "ckpt-2")
        await served.aclose()
    assert [(s.path[4:], s.body["lora_name"]) for s in fake.seen] == [
        ("load_lora_adapter", "ckpt-1"),
        ("load_lora_adapter", "ckpt-2"),
        ("unload_lora_adapter", "ckpt-1"),
    ]
    assert (served.name, served.weights) == ("ckpt-2", "ckpt-2")


async def test_a_probe_reads_the_log_probabilities_of_given_tokens() -> None:
    told = [None, {"7": {"logprob": -0.25}, "9": {"logprob": -2.0}}, {"8": {"logprob": -1.5}}]
    async with FakeEndpoint() as fake:
        fake.roads |= {"/v1/completions": Response(body=json.dumps({"choices": [{"prompt_logprobs": told}]}).encode())}
        served = endpoint(fake)
        assert await served_logprobs(served, [3, 7, 8], [1, 2]) == [-0.25, -1.5]
        fake.roads |= {"/v1/completions": OK}
        with pytest.raises(Abort, match="tells no log-probabilities"):
            await served_logprobs(served, [3, 7, 8], [1])
        await served.aclose()
    assert fake.seen[0].body["prompt"] == [3, 7, 8]
