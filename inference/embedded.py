"""The embedded server, seen from outside: start it, know it is well, restart it when it dies, stop it for sure."""

import asyncio
import json
import logging
import os
import secrets
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from inference import machine
from spade.errors import Abort, Retry

log = logging.getLogger(__name__)

PATIENT_THREADS = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that spin at barriers lose their core to each other as soon as anyone else computes: 4 to 10 times slower on
two shared cores, and no faster on idle ones."""
START_SECONDS = 120.0
STOP_SECONDS = 5.0
RESTARTS_IN_A_ROW = 5
STEADY_SECONDS = 60.0
"""A server that lived this long has earned its full number of restarts again."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the embedded server serves. `port` 0 takes a free one; `context` is one sequence's, in tokens."""

    weights: Path
    alias: str
    parallel: int = 16
    context: int = 2048
    host: str = "127.0.0.1"
    port: int = 0
    api_key: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    threads: int = field(default_factory=machine.usable_cores)
    verbosity: int = 1


class EmbeddedServer:
    """A llama.cpp server in a child process, watched.

        async with EmbeddedServer(settings, log_file) as server:
            ...  # an OpenAI API at server.base_url

    What it prints goes to `log_file`. A server that dies is started again on the same port (calls under way fail and
    are the client's to retry); after several deaths in a row it stays down. Raises `Abort` on entering when it cannot
    start: port taken, weights not loadable, engine not installed.
    """

    def __init__(self, settings: ServerSettings, log_file: Path) -> None:
        self.settings = settings
        self.log_file = log_file
        self.restarts = 0
        self._port = settings.port
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        return f"http://{self.settings.host}:{self._port}/v1"

    @property
    def pid(self) -> int | None:
        """The child's process id while it lives."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def __aenter__(self) -> "EmbeddedServer":
        if self.settings.port:
            refuse_taken_port(self.settings.host, self.settings.port)
        try:
            await self._start()
        except BaseException:
            await self._stop()
            raise
        self._watch = asyncio.create_task(self._keep_alive(), name="watch the embedded server")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        down = None
        if self._watch is not None:
            self._watch.cancel()
            (down,) = await asyncio.gather(self._watch, return_exceptions=True)
        await self._stop()
        if isinstance(down, Abort) and isinstance(error, Retry):
            raise down from error  # why the caller's calls failed

    async def wait(self) -> None:
        """Until the server is down for good. Raises the `Abort` that says why."""
        if self._watch is not None:
            await asyncio.shield(self._watch)

    async def _start(self) -> None:
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
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
        finally:
            os.close(writable)
        self._port = await self._ready(readable)

    def _orders(self, ready: int) -> dict[str, Any]:
        s = self.settings
        return {
            "model": str(s.weights),
            "alias": s.alias,
            "host": s.host,
            "port": self._port,
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
            raise Abort(f"The embedded server was not ready after {START_SECONDS:.0f} s.", self._see_log()) from cause
        finally:
            transport.close()
        if not line:
            raise Abort(f"The embedded server could not load {self.settings.weights.name}.", self._see_log())
        return int(json.loads(line)["url"].rsplit(":", 1)[1])

    async def _keep_alive(self) -> None:
        in_a_row = 0
        while True:
            assert self._process is not None
            started = time.monotonic()
            code = await self._process.wait()
            in_a_row = 1 if time.monotonic() - started > STEADY_SECONDS else in_a_row + 1
            if in_a_row > RESTARTS_IN_A_ROW:
                raise Abort(f"The embedded server died {in_a_row} times in a row.", self._see_log())
            log.warning("The embedded server ended with code %s and is started again; see %s", code, self.log_file)
            self.restarts += 1
            await self._start()

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()

    def _see_log(self) -> str:
        return f"Its last words are in {self.log_file}."


def refuse_taken_port(host: str, port: int) -> None:
    """Raises `Abort` when something listens there already."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as cause:
            raise Abort(
                f"Port {port} on {host} cannot be used: {cause.strerror}.",
                "Stop what listens there, choose another port, or leave the port out for a free one.",
            ) from cause
