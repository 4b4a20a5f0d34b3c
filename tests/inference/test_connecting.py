"""What is wrong with an endpoint is said before the run starts, with the remedy."""

import itertools
import socket
from pathlib import Path

import pytest

from inference import connecting
from inference.connecting import connect
from inference.dialects import Dialect
from inference.opening import open_model
from spade.errors import Abort
from spade.settings import ModelSettings
from tests import fakes_endpoint as says
from tests.fakes_endpoint import FakeEndpoint, Response
from tests.inference.asking import connected


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("url", ["", "8000", "ftp://host/v1", "http://", "http://[::bad", "//host/v1"])
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Abort, match="not an address"):
        await connect(ModelSettings(), url)


async def test_nothing_listening_is_said_with_the_address() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"

    with pytest.raises(Abort, match="Nothing answers at") as caught:
        await connect(ModelSettings(), url)
    assert "serve-model" in caught.value.remedy


ANSWERS = {
    "web page": (says.HTML, "a web page"),
    "not found": (says.status(404), "no list of models"),
    "wrong key": (says.status(401, "bad key"), "refuses the key"),
    "not JSON": (says.raw(b"hello"), "no list of models"),
    "other JSON": (says.raw(b'{"data": 3}'), "no list of models"),
    "no model": (says.raw(b'{"data": []}'), "serves no model"),
}


@pytest.mark.parametrize(("answer", "complaint"), ANSWERS.values(), ids=ANSWERS)
async def test_what_is_no_endpoint_is_refused(answer: Response, complaint: str) -> None:
    async with FakeEndpoint() as fake:
        fake.roads["/v1/models"] = answer

        with pytest.raises(Abort, match=complaint) as caught:
            await connected(fake)
        assert caught.value.remedy


async def test_a_server_that_still_loads_its_model_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "PAUSE", 0.0)
    async with FakeEndpoint() as fake:
        listed = fake.roads["/v1/models"]
        loading = itertools.chain([says.status(503, "Loading model")] * 5, itertools.repeat(listed))
        fake.roads["/v1/models"] = lambda _: next(loading)  # type: ignore[assignment, return-value]

        endpoint = await connected(fake)
        await endpoint.aclose()
    assert len(fake.seen) == 6


async def test_a_forgotten_v1_is_named() -> None:
    async with FakeEndpoint() as fake:
        with pytest.raises(Abort) as caught:
            await connect(ModelSettings(), fake.base_url.removesuffix("/v1"))
        assert f"Set model.base_url to {fake.base_url}." in caught.value.remedy


async def test_an_unknown_model_is_refused_with_the_ones_there_are() -> None:
    async with FakeEndpoint(models=("small", "large")) as fake:
        with pytest.raises(Abort, match="has no model 'huge'") as caught:
            await connected(fake, name="huge")
        assert "large, small" in caught.value.remedy


async def test_the_first_model_is_taken_when_none_is_named() -> None:
    async with FakeEndpoint(models=("small", "large")) as fake:
        endpoint = await connected(fake)
        assert (endpoint.name, endpoint.weights) == ("small", "small")


async def test_an_endpoint_without_a_list_takes_the_name_on_trust() -> None:
    async with FakeEndpoint() as fake:
        fake.roads["/v1/models"] = says.status(404)
        assert (await connected(fake, name="m")).name == "m"


async def test_a_key_with_a_line_break_inside_is_refused() -> None:
    with pytest.raises(Abort, match="cannot be sent"):
        await connect(ModelSettings.model_validate({"api_key": "sk\nx"}), "http://127.0.0.1:1/v1")


async def test_the_key_comes_from_the_environment_when_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("SPADE_API_KEY", "ours")
    async with FakeEndpoint() as fake:
        await connected(fake)
        assert fake.seen[0].headers["authorization"] == "Bearer ours"


@pytest.mark.parametrize(
    ("owner", "dialect"),
    [("llamacpp", Dialect.LLAMA_CPP), ("vllm", Dialect.VLLM), ("openai", Dialect.OPENAI), ("library", Dialect.OPENAI)],
)
async def test_the_engine_is_known_by_its_list_of_models(owner: str, dialect: Dialect) -> None:
    async with FakeEndpoint(owned_by=owner) as fake:
        assert (await connected(fake)).served.dialect is dialect


@pytest.mark.parametrize(("logprob", "draws"), [(0.0, True), (-2.5, False)])
async def test_a_vllm_server_is_asked_whose_log_probabilities_it_returns(logprob: float, draws: bool) -> None:
    """Importance weights from the wrong distribution bias the update, so nobody has to remember a flag."""
    probe = says.raw(b'{"choices": [{"text": "b", "logprobs": {"token_logprobs": [%s]}}]}' % str(logprob).encode())
    async with FakeEndpoint(owned_by="vllm") as fake:
        fake.roads["/v1/completions"] = probe
        assert (await connected(fake)).served.draws is draws


async def test_a_name_without_an_endpoint_is_refused(tmp_path: Path) -> None:
    """Rather than quietly serving the embedded model under another's name."""
    with pytest.raises(Abort, match="no endpoint is set"):
        async with open_model(ModelSettings(name="qwen"), tmp_path):
            pass
