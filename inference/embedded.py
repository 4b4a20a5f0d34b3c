"""The embedded server: llama.cpp in a child process, one GGUF, an OpenAI API on loopback."""

import asyncio
import json
import os
import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inference import machine
from inference.watching import WatchedServer
from spade.errors import Abort

PATIENT_THREADS = {"GOMP_SPINCOUNT": "5000"}
"""How long threads spin at barriers before they sleep. Spinning without end loses both cores as soon as anyone else
computes (4 to 10 times slower); sleeping at once wakes hundreds of times a token (half as fast on idle cores)."""
START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the embedded server serves. `port` 0 takes a free one; `context` is one sequence's, in tokens. An empty
    `api_key` lets anyone on the host in."""

    weights: Path
    alias: str
    parallel: int = 16
    context: int = 2048
    host: str = "127.0.0.1"
    port: int = 0
    api_key: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    threads: int = field(default_factory=machine.usable_cores)
    verbosity: int = 1


class EmbeddedServer(WatchedServer):
    """A llama.cpp server, watched.

        async with EmbeddedServer(settings, log_file) as server:
            ...  # an OpenAI API at server.base_url

    Raises `Abort` on entering when the port is taken, the weights do not load, or the engine is not installed.
    """

    title = "embedded server"

    def __init__(self, settings: ServerSettings, log_file: Path) -> None:
        super().__init__(settings.host, settings.port, log_file)
        self.settings = settings

    async def _start(self) -> None:
        readable, writable = os.pipe()
        try:
            with self.log_file.open("ab") as sink:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", str(Path(__file__).with_name("llama_server.py"))),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=sink,
                    stderr=sink,
                    pass_fds=(writable,),
                    env=machine.plain_environment(**PATIENT_THREADS),
                    start_new_session=True,  # Ctrl-C in the terminal is ours to handle, not the child's
                )
            assert self._process.stdin is not None
            self._process.stdin.write((json.dumps(self._orders(writable)) + "\n").encode())
        except BaseException:
            os.close(readable)
            raise
        finally:
            os.close(writable)
        self.port = await self._ready(readable)

    def _orders(self, ready: int) -> dict[str, Any]:
        s = self.settings
        return {
            "model": str(s.weights),
            "alias": s.alias,
            "host": s.host,
            "port": self.port,
            "api_key": s.api_key,
            "parallel": s.parallel,
            "context": s.context,
            "threads": s.threads,
            "verbosity": s.verbosity,
            "ready": ready,
        }

    async def _ready(self, readable: int) -> int:
        """The port, once the model is loaded. The pipe closes unwritten when the child gives up."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(readable, "rb", buffering=0)
        )
        try:
            line = await asyncio.wait_for(reader.readline(), START_SECONDS)
        except TimeoutError as cause:
            raise Abort(f"The embedded server was not ready after {START_SECONDS:.0f} s.", self.see_log) from cause
        finally:
            transport.close()
        if not line:
            raise Abort(f"The embedded server could not load {self.settings.weights.name}.", self.see_log)
        return int(json.loads(line)["url"].rsplit(":", 1)[1])
