"""The real model on the real server, and what happens when either dies."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from inference.embedded import EmbeddedServer, ServerSettings
from inference.opening import open_model
from spade.errors import Abort
from spade.messages import Message, Request, Role, Sampling
from spade.settings import ModelSettings
from tests.inference.asking import CHOICES, DIGITS, SCHEMA, request

SMALL = ModelSettings(concurrency=2, context=512, timeout_seconds=100)


@contextlib.asynccontextmanager
async def serving(model_home: Path, tmp_path: Path, port: int = 0) -> AsyncIterator[EmbeddedServer]:
    settings = ServerSettings(model_home / "models" / "smollm2-135m.q8_0.gguf", "m", parallel=1, context=256, port=port)
    async with EmbeddedServer(settings, tmp_path / "logs" / "server.log") as server:
        yield server


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


@pytest.mark.model
async def test_the_small_model_answers_under_every_guide(model_home: Path) -> None:
    async with open_model(SMALL, model_home) as model:
        digits = await model.complete(request("Guess a number.", guide=DIGITS, max_tokens=12))
        side, form = await asyncio.gather(
            model.complete(request("LEFT or RIGHT?", guide=CHOICES)),
            model.complete(request("Give a.", guide=SCHEMA, max_tokens=40)),
        )

    assert model.weights == "smollm2-135m@0c1d3326cd97"
    assert digits.text.startswith("\\boxed{")
    assert digits.text.removeprefix("\\boxed{").removesuffix("}").isdigit()
    assert digits.tokens.prompt_ids is not None
    assert len(digits.tokens.output_ids) <= 5
    assert side.text in CHOICES.choices
    assert form.text.startswith('{"')
    assert digits.guided
    assert side.guided
    assert form.guided


@pytest.mark.model
async def test_tokens_of_the_small_model_are_exact(model_home: Path) -> None:
    """The prompt ids, fed back as they are, continue to the very same output ids."""
    asked = Request((Message("user", "What is the capital of France?"),), Sampling(0.0, 1.0, 0, 6), Role.AGENT)
    async with open_model(SMALL, model_home) as model:
        tokens = (await model.complete(asked)).tokens
        body = {"prompt": tokens.prompt_ids, "n_predict": 6, "temperature": 0.0, "return_tokens": True, "top_k": 0}
        again = await model.wire.ask(f"{model.wire.root}/completion", body | {"min_p": 0.0}, seconds=60)

    assert tuple(again["tokens"]) == tokens.output_ids
    assert len(tokens.logprobs) == len(tokens.output_ids)
    assert tokens.logprobs_of == "sampling"


@pytest.mark.model
async def test_the_same_seed_gives_the_same_reply(model_home: Path) -> None:
    async with open_model(SMALL.model_copy(update={"concurrency": 1}), model_home) as model:
        replies = [(await model.complete(request("Tell a joke.", seed=7))).text for _ in range(2)]

    assert replies[0] == replies[1]


@pytest.mark.model
async def test_a_server_that_dies_is_started_again_under_the_callers_feet(model_home: Path) -> None:
    async with open_model(SMALL, model_home) as model:
        (pid,) = children("llama_server.py")
        os.kill(pid, signal.SIGKILL)

        assert (await model.complete(request())).text


@pytest.mark.model
async def test_the_server_ends_with_its_block(model_home: Path, tmp_path: Path) -> None:
    async with serving(model_home, tmp_path) as server:
        pid = server.pid
        assert pid is not None
        assert alive(pid)

    assert gone(pid)


@pytest.mark.model
async def test_only_who_has_the_key_is_served(model_home: Path, tmp_path: Path) -> None:
    async with serving(model_home, tmp_path) as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.base_url}/chat/completions", json={"messages": []})

    assert answer.status_code == 401


@pytest.mark.model
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_server_does_not_outlive_its_parent(model_home: Path, tmp_path: Path, end: signal.Signals) -> None:
    """However the parent dies: nothing of it may keep a core busy or a port taken."""
    program = f"""
import asyncio, signal
from pathlib import Path
from inference.embedded import EmbeddedServer, ServerSettings

signal.signal(signal.SIGINT, signal.default_int_handler)  # tests started in the background inherit it ignored

async def main():
    weights = Path({str(model_home)!r}) / "models" / "smollm2-135m.q8_0.gguf"
    async with EmbeddedServer(ServerSettings(weights, "m", 1, 256), Path({str(tmp_path)!r}) / "log") as server:
        print(server.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(end)
        assert gone(pid)


async def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings = ServerSettings(tmp_path / "x.gguf", "m", port=other.getsockname()[1])

        with pytest.raises(Abort, match="cannot be used: Address already in use"):
            async with EmbeddedServer(settings, tmp_path / "log"):
                pass


async def test_weights_that_do_not_load_are_said_with_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the engine's chatter stays off the terminal."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing")

    with pytest.raises(Abort, match=r"could not load broken\.gguf") as caught:
        async with EmbeddedServer(ServerSettings(broken, "m"), tmp_path / "server.log"):
            pass
    assert str(tmp_path / "server.log") in caught.value.remedy
    assert (tmp_path / "server.log").stat().st_size > 0
    assert capfd.readouterr() == ("", "")


def children(of_program: str) -> list[int]:
    """Processes of ours that run a program."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            if parent == os.getpid() and of_program in (stat.parent / "cmdline").read_text():
                found.append(int(stat.parent.name))
    return found
