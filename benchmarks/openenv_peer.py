"""OpenEnv's WebSocket server with the benchmark's text game, measured by OpenEnv's own client.

Runs in an environment of its own (benchmarks/build_openenv.sh), as a script: prints one JSON object. With `--serve`
and a port it is the server.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State

SESSIONS = 64


class TextAction(Action):
    text: str


class TextObservation(Observation):
    text: str


class EchoEnvironment(Environment):
    """The same game as benchmarks/sandbox.py plays."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> TextObservation:
        self.turns = 0
        return TextObservation(text=f"Instance {seed}. Say something.")

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
        self.turns += 1
        return TextObservation(text=f"Turn {self.turns}: you said {action.text}.", reward=0.0, done=False)

    @property
    def state(self) -> State:
        return State(step_count=self.turns)


class EchoClient(EnvClient):
    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        return StepResult(payload["observation"]["text"], payload.get("reward"), payload.get("done", False))

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def serve(port: int) -> None:
    import uvicorn

    limits = ConcurrencyConfig(max_concurrent_envs=SESSIONS)
    app = create_fastapi_app(EchoEnvironment, TextAction, TextObservation, concurrency_config=limits)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


async def start(url: str) -> float:
    """Milliseconds from nothing to the first observation of a session, on a server that is up."""
    began = time.perf_counter()
    client = EchoClient(base_url=url)
    await client.reset(seed=1)
    took = (time.perf_counter() - began) * 1e3
    await client.close()
    return took


async def rate(url: str, sessions: int, steps: int) -> float:
    """Steps per second over several sessions at once."""
    clients = [EchoClient(base_url=url) for _ in range(sessions)]
    for client in clients:
        await client.reset(seed=1)

    async def play(client: EchoClient) -> None:
        for _ in range(steps // sessions):
            await client.step(TextAction(text="abc"))

    began = time.perf_counter()
    await asyncio.gather(*map(play, clients))
    took = time.perf_counter() - began
    for client in clients:
        await client.close()
    return steps // sessions * sessions / took


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(url: str, server: int, steps: int, repeats: int) -> dict[str, float]:
    await start(url)
    figures = {"start_ms": statistics.median([await start(url) for _ in range(20)])}
    for sessions in (1, 8, 32):
        used = processor_seconds(server) + time.process_time()
        rates = [await rate(url, sessions, steps) for _ in range(repeats)]
        used = processor_seconds(server) + time.process_time() - used
        figures[f"steps_per_second_{sessions}"] = statistics.median(rates)
        figures[f"cpu_us_per_step_{sessions}"] = used / repeats / steps * 1e6
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", type=int)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, __file__, "--serve", str(port)]) as server:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 0.2).close()
                    break
                except OSError:
                    time.sleep(0.05)
            up = time.perf_counter() - began
            url = f"http://127.0.0.1:{port}"
            figures = asyncio.run(measure(url, server.pid, given.steps, given.repeats))
            print(json.dumps(figures | {"server_up_s": up}))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
