"""`spade up`: server, worker and deployments on one machine, watched, started again when they die, stopped together."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flows.automations import register_automations
from flows.deploying import POOL, prefect_file, register
from flows.guarding import Deaths
from flows.prefect_server import (
    LOOPBACK,
    is_free,
    marker,
    prefect_environment,
    reachable,
    start_prefect,
    start_server,
    stop_server,
    wait_until_healthy,
)
from flows.recovering import follow_up, mark_interrupted
from spade.errors import Abort

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient

WATCH_SECONDS = 0.5
FOLLOW_UP_SECONDS = 2.0
STOP_SECONDS = 2.0
"""How long server and worker get to end by themselves."""
MOST_DEATHS, DEATHS_WITHIN = 5, 60.0
AUTH_VARIABLE = "PREFECT_SERVER_API_AUTH_STRING"

WORKER = {
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    "PREFECT_WORKER_ENABLE_CANCELLATION": "true",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_CLIENT_MAX_RETRIES": "8",
}
"""Runs start within two seconds, can be cancelled in the UI, show that they live, and outlive a server's restart."""


@dataclass
class Standing:
    """What `spade up` keeps running. `limit` bounds how many flow runs the worker has under way at once; finished
    ones stay in Prefect's database for `prefect_days`; failures are posted to `notify_url`."""

    home: Path
    host: str = LOOPBACK
    port: int = 4200
    limit: int = 4
    prefect_days: int = 14
    notify_url: str | None = None
    file: Path = field(default_factory=prefect_file)
    tell: Callable[[str], None] = print
    _server: "subprocess.Popen[bytes] | None" = None
    _worker: "subprocess.Popen[bytes] | None" = None
    _deaths: Deaths = field(default_factory=lambda: Deaths(MOST_DEATHS, DEATHS_WITHIN))

    @property
    def address(self) -> str:
        return f"http://{reachable(self.host)}:{self.port}"

    def run(self) -> None:
        """Start everything, then watch until a signal. Raises `Abort` when something cannot be started."""
        check_reach(self.host)
        if not is_free(self.port, self.host):
            raise Abort(
                f"Port {self.port} on {self.host} is in use.",
                "Stop what listens there (another `spade up`?), or choose another with --port.",
            )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        try:
            self._start_server()
            asyncio.run(self._watch())
        except KeyboardInterrupt:
            self.tell("Stopping; what is under way is finished by the next run.")
        finally:
            self._stop()

    def _start_server(self) -> None:
        os.environ.update(client_environment(self.home, f"{self.address}/api"))
        self._server = start_server(self.home, self.port, ui=True, host=self.host, days=self.prefect_days)
        wait_until_healthy(self._server, f"{self.address}/api", self.home)
        marker(self.home).parent.mkdir(parents=True, exist_ok=True)
        marker(self.home).write_text(f"{self.address}/api")

    def _start_worker(self) -> None:
        command = ["worker", "start", "--pool", POOL, "--type", "process", "--name", f"spade-{os.uname().nodename}"]
        command += ["--limit", str(self.limit), "--install-policy", "never"]
        ours_first = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        self._worker = start_prefect(command, self.home / "logs" / "worker.log", WORKER | ours_first)

    async def _watch(self) -> None:
        from prefect.client.orchestration import get_client

        async with get_client() as client:
            interrupted = await mark_interrupted(client, "Its process ended with the factory.")
            if await register(client, self.file, self.home / "logs" / "deploy.log"):
                self.tell(f"Deployments of {self.file.name} registered; their schedules start paused.")
            await register_automations(client, self.notify_url)
            self._start_worker()
            if interrupted:
                self.tell(f"{interrupted} interrupted runs are followed up.")
            self.tell(f"Pages of cycles, environments and datasets: {self.address}/artifacts")
            self.tell(f"The factory is up: {self.address}  (Ctrl-C stops it)")
            seen: set[UUID] = set()
            looked = 0.0
            while True:
                await asyncio.sleep(WATCH_SECONDS)
                await self._revive(client)
                if time.monotonic() - looked >= FOLLOW_UP_SECONDS:
                    looked = time.monotonic()
                    for name in await _or_nothing(follow_up(client, seen)):
                        self.tell(f"Started {name} to go on where a killed run ended.")

    async def _revive(self, client: "PrefectClient") -> None:
        if self._server is None or self._server.poll() is not None:
            self._died("Prefect server", "prefect-server.log")
            self._start_server()
        if self._worker is None or self._worker.poll() is not None:
            self._died("worker", "worker.log")
            await mark_interrupted(client, "Its worker died.")
            self._start_worker()

    def _died(self, what: str, log: str) -> None:
        if self._deaths.one_more():
            raise Abort(f"The {what} dies again and again.", f"See {self.home / 'logs' / log}.")
        self.tell(f"The {what} died and is started again.")

    def _stop(self) -> None:
        marker(self.home).unlink(missing_ok=True)
        running = [process for process in (self._worker, self._server) if process is not None]
        stop_server(*running, patience_seconds=STOP_SECONDS)
        os.environ.pop("PREFECT_API_URL", None)


def client_environment(home: Path, address: str) -> dict[str, str]:
    """What a process needs to talk to our server: its address, and the password where one is set."""
    auth = os.environ.get(AUTH_VARIABLE) or os.environ.get("PREFECT_API_AUTH_STRING")
    password = {"PREFECT_API_AUTH_STRING": auth, AUTH_VARIABLE: auth} if auth else {}
    return {**prefect_environment(home), "PREFECT_API_URL": address, **password}


def check_reach(host: str) -> None:
    """Raises `Abort` for an address that others reach without a password."""
    if host in (LOOPBACK, "localhost", "::1") or ":" in os.environ.get(AUTH_VARIABLE, ""):
        return
    raise Abort(
        f"Listening on {host} without a password would let the whole network run flows here.",
        f"Set {AUTH_VARIABLE}=user:password, or listen on {LOOPBACK}.",
    )


async def _or_nothing(asked: Awaitable[list[str]]) -> list[str]:
    """What a busy or restarting server does not answer is asked again soon."""
    import httpx
    from prefect.exceptions import PrefectHTTPStatusError

    try:
        return await asked
    except (httpx.HTTPError, PrefectHTTPStatusError):
        return []


def _interrupt(_: int, __: Any) -> None:
    raise KeyboardInterrupt
