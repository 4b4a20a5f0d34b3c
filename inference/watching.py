"""A model server in a child process: started, watched, started again when it dies, stopped for sure."""

import asyncio
import logging
import socket
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

from spade.errors import Abort, Retry

log = logging.getLogger(__name__)

RESTARTS_IN_A_ROW = 5
STEADY_SECONDS = 60.0
"""A server that lived this long has earned its full number of restarts again."""


class WatchedServer(ABC):
    """An async context manager around a server process.

    The child ends when its standard input closes, so it ends with this process, however that dies. What it prints goes
    to `log_file`. A server that dies is started again on the same port; calls under way fail and are the client's to
    retry. After several deaths in a row it stays down. Entering raises `Abort` when it cannot start.
    """

    title = "model server"
    stop_seconds = 5.0

    def __init__(self, host: str, port: int, log_file: Path) -> None:
        self.host = host
        self.port = port
        self.log_file = log_file
        self.restarts = 0
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @abstractmethod
    async def _start(self) -> None:
        """Set `_process`, and `port` where it was 0; return when the server is ready. Raises `Abort`."""

    @property
    def base_url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """The child's process id while it lives."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def __aenter__(self) -> Self:
        if self.port:
            refuse_taken_port(self.host, self.port)
        try:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            await self._start()
        except OSError as cause:
            await self._stop()
            raise Abort(
                f"The {self.title} cannot be started: {cause}.", "Check the path and its permissions."
            ) from cause
        except BaseException:
            await self._stop()
            raise
        self._watch = asyncio.create_task(self._keep_alive(), name=f"watch the {self.title}")
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

    async def _keep_alive(self) -> None:
        in_a_row = 0
        while self._process is not None:
            started = time.monotonic()
            code = await self._process.wait()
            in_a_row = 1 if time.monotonic() - started > STEADY_SECONDS else in_a_row + 1
            if in_a_row > RESTARTS_IN_A_ROW:
                raise Abort(f"The {self.title} died {in_a_row} times in a row.", self.see_log)
            log.warning("The %s ended with code %s and is started again; see %s", self.title, code, self.log_file)
            self.restarts += 1
            await self._start()

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), self.stop_seconds)
        except TimeoutError:
            process.kill()
            await process.wait()

    @property
    def see_log(self) -> str:
        return f"Its last words are in {self.log_file}."


def refuse_taken_port(host: str, port: int) -> None:
    """Raises `Abort` when something listens there already, or the address is not this machine's."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as cause:
        raise Abort(
            f"Port {port} on {host} cannot be used: {cause.strerror}.",
            "Stop what listens there, choose another port, or take port 0 for a free one.",
        ) from cause


def free_port(host: str) -> int:
    """A port that is free now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
