"""A Prefect server for this run: the user's own when one is configured, else one we start on loopback and stop again.

Must be entered before Prefect is imported, because Prefect reads its settings once. Prefect's own in-process server is
not used: it prints tracebacks when a script ends, and its records are out of the browser's reach while the run goes on.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx

from flows.guarding import Guarded
from flows.reasons import STARTED, died_again_and_again, end_at_once, ended_while_starting
from spade.errors import Abort
from spade.operating_settings import RetentionSettings

START_SECONDS = 90.0
"""The first start migrates an empty database: 5 s on a quiet machine, 16 s on a busy one."""
UI_PORT = 4200
LOOPBACK = "127.0.0.1"
LEASES_ON_DISK = "prefect.server.concurrency.lease_storage.filesystem"
"""Leases in memory, the default, go with the server: its restart would cancel running flows and keep their slots."""
FLUSH_SECONDS = 5.0

QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_CLI_PROMPT": "false",
}
"""No telemetry, no advertisements, no log lines through the progress display; logs go to the server and to a file."""

IN_BATCHES = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}
"""By default each of a task run's three states is a transaction of its own, on SQLite most of the server's work."""

KEPT_DAYS = RetentionSettings().prefect_days

UNUSED_BY_ONE_RUN = (
    *("SCHEDULER", "LATE_RUNS", "FOREMAN", "CANCELLATION_CLEANUP", "PAUSE_EXPIRATIONS", "REPOSSESSOR", "TRIGGERS"),
)
"""Services that only deployments, workers and automations need; each wakes every few seconds or for every event."""


def prefect_environment(home: Path) -> dict[str, str]:
    """What every process of ours that talks to Prefect has in its environment."""
    folder = (home / "prefect").resolve()
    return {
        **QUIET,
        "PREFECT_HOME": os.environ.get("PREFECT_HOME", str(folder)),
        "PREFECT_LOCAL_STORAGE_PATH": os.environ.get("PREFECT_LOCAL_STORAGE_PATH", str(folder / "storage")),
    }


def kept_for(days: int) -> dict[str, str]:
    """The server's own housekeeping: finished flow runs and events go after so many days; 0 keeps the runs."""
    if not days:
        return {}
    seconds = str(days * 86400)
    return {
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": seconds,
        "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": f"P{days}D",
    }


_PREFECT_THAT_DIES_WITH_US = """
import ctypes, os, runpy, signal, sys
parent, libc = int(sys.argv.pop(1)), ctypes.CDLL(None)
if hasattr(libc, "prctl"):
    libc.prctl(1, signal.SIGKILL)
if os.getppid() == parent:
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)
"""
"""PR_SET_PDEATHSIG: not even kill -9 of the run leaves a server behind. The check covers a parent already gone."""


@contextmanager
def prefect_server(home: Path, days: int = KEPT_DAYS) -> Iterator[str]:
    """Have an API to talk to for the length of the block; yields its address and sets it in the environment.

    A server of our own keeps finished runs for `days`.
    """
    os.environ.update({k: v for k, v in prefect_environment(home).items() if k not in os.environ})
    configured = os.environ.get("PREFECT_API_URL")
    if configured:
        _check_reachable(configured)
        yield configured
        return
    running = running_ui(home)
    if running:
        os.environ["PREFECT_API_URL"] = running
        yield running
        return
    port = free_port()
    address = f"http://127.0.0.1:{port}/api"
    server = Guarded(partial(start_server, home, port, ui=False, days=days), partial(end_at_once, home))
    try:
        wait_until_healthy(server.process, address, home)
        os.environ["PREFECT_API_URL"] = address
        server.watch()
        yield address
    except KeyboardInterrupt:
        if server.gave_up:
            raise died_again_and_again(home) from None
        raise
    finally:
        os.environ.pop("PREFECT_API_URL", None)
        server.close(stop_server)


def flush_prefect() -> None:
    """Send what is still queued for the server, while there is one: Prefect's senders would wait for it at exit."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    for service in (EventsWorker, APILogWorker):
        service.drain_all(timeout=FLUSH_SECONDS)


def start_server(
    home: Path, port: int, *, ui: bool, host: str = LOOPBACK, days: int = KEPT_DAYS
) -> subprocess.Popen[bytes]:
    """Start a server with its database under `home`, or where PREFECT_API_DATABASE_CONNECTION_URL says; its output
    goes to a log file there. Finished runs leave the database after `days`; 0 keeps them."""
    environment = {
        **prefect_environment(home),
        "PREFECT_SERVER_UI_API_URL": f"http://{reachable(host)}:{port}/api",
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES_ON_DISK,
        "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
        **IN_BATCHES,
        **kept_for(days),
    }
    if not ui:
        environment |= {f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false" for name in UNUSED_BY_ONE_RUN}
    command = ["server", "start", "--host", host, "--port", str(port), "--ui" if ui else "--no-ui"]
    return start_prefect(command, home / "logs" / "prefect-server.log", environment, without=("PREFECT_API_URL",))


def start_prefect(
    command: list[str], log_path: Path, environment: dict[str, str], *, without: tuple[str, ...] = ()
) -> subprocess.Popen[bytes]:
    """A Prefect command as a process that ends when this one does, its output in a log file.

    It has a session of its own: Ctrl-C stops us first, and then we stop it.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    with log_path.open("ab") as log:
        with suppress(OSError):
            log.write(f"{STARTED}{' '.join(command)}\n".encode())
            log.flush()
        return subprocess.Popen(
            [sys.executable, "-c", _PREFECT_THAT_DIES_WITH_US, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**inherited, **environment},
            start_new_session=True,
        )


def reachable(host: str) -> str:
    """What a browser on this machine calls a listening address."""
    return LOOPBACK if host in ("0.0.0.0", "::") else host


def stop_server(*processes: subprocess.Popen[bytes], patience_seconds: float = 3.0) -> None:
    """Ask all, then insist; their helpers are in their sessions and go with them."""
    for number, patience in ((signal.SIGINT, patience_seconds), (signal.SIGKILL, 5.0)):
        left = [process for process in processes if process.poll() is None]
        for process in left:
            os.killpg(process.pid, number)
        until = time.monotonic() + patience
        for process in left:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))


def serve_ui(home: Path, port: int = UI_PORT) -> None:
    """Run the server with its UI in the foreground until Ctrl-C."""
    if not is_free(port):
        raise Abort(f"Port {port} is in use.", "Choose another with --port, or stop what listens there.")
    process = start_server(home, port, ui=True)
    try:
        wait_until_healthy(process, f"http://127.0.0.1:{port}/api", home)
        print(f"Prefect UI: http://127.0.0.1:{port}  (Ctrl-C stops it)", flush=True)
        marker(home).write_text(f"http://127.0.0.1:{port}/api")
        process.wait()
    except KeyboardInterrupt:
        print("Stopped.")
    finally:
        marker(home).unlink(missing_ok=True)
        stop_server(process)


def marker(home: Path) -> Path:
    return home / "prefect" / "ui-address"


def running_ui(home: Path) -> str | None:
    """The address of a `spade ui` of the same folder: two servers must not share one SQLite file."""
    try:
        address = marker(home).read_text().strip()
    except OSError:
        return None
    return address if healthy(address) else None


def _check_reachable(address: str) -> None:
    if not healthy(address):
        raise Abort(
            f"No Prefect server answers at {address} (PREFECT_API_URL).",
            "Start it with `prefect server start`, or unset PREFECT_API_URL: the run then starts its own.",
        )


def healthy(address: str) -> bool:
    certified = address.startswith("https")  # loading certificates takes longer than the whole call
    try:
        found = httpx.get(f"{address}/health", timeout=5.0, trust_env=False, verify=certified)
        return found.status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, home: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ended_while_starting(home)
        if healthy(address):
            return
        time.sleep(0.1)
    raise Abort(
        f"The Prefect server did not answer within {START_SECONDS:.0f} s.",
        f"Its log is {home / 'logs' / 'prefect-server.log'}; start again when the machine is less busy.",
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server can listen there; an address in its closing wait counts as free, as it does for servers."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
