"""A program of ours that tries to break out. The host sends its text into a real cell at start-up, import guard off.

It is loaded like any other program and never imported. Each attempt answers `held: how` or `broke out: how`; an attempt
that could not be made counts as failed too, since it proved nothing. Only modules that the fork server has loaded
already are used.
"""

import _thread
import ctypes
import os
import resource
import socket
from collections.abc import Callable
from typing import Any

NEW_USER_NAMESPACE = 0x1000_0000
PTRACE_ATTACH = 16
MEMORY = 1 << 33


def network() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as opened:
        return f"opened {opened}"


def local_socket() -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as opened:
        return f"opened {opened}"


def read_file(path: str) -> str:
    with open(path) as lines:
        return f"read {len(lines.read())} characters of {path}"


def read_parent() -> str:
    with open(f"/proc/{os.getppid() or 1}/environ", "rb") as data:
        return f"read {len(data.read())} bytes of its parent's environment"


def see_environment(known: str) -> str:
    strange = set(os.environ) - set(known.split(","))
    if strange:
        return f"saw {sorted(strange)}"
    raise PermissionError("nothing of the host is there")


def write_file() -> str:
    for folder in ("/", "/tmp", "/usr", "/var/tmp", "/dev/shm"):
        try:
            os.close(os.open(f"{folder}/canary", os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
        os.unlink(f"{folder}/canary")
        return f"wrote into {folder}"
    raise PermissionError("no folder could be written")


def send_signal() -> str:
    for pid in (os.getppid(), 1, -1):
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        if pid != os.getpid():
            return f"signalled process {pid}"
    raise PermissionError("no process could be signalled")


def start_process() -> str:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return f"forked {pid}"


def start_thread() -> str:
    return f"started thread {_thread.start_new_thread(lambda: None, ())}"


def take_memory() -> str:
    return f"took {len(bytearray(MEMORY))} bytes"


def raise_limit() -> str:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "raised its memory limit"


def new_namespace() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(ctypes.c_int(NEW_USER_NAMESPACE)) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return "made a user namespace"


def trace_parent() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(ctypes.c_long(PTRACE_ATTACH), ctypes.c_long(os.getppid() or 1), None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return "traced its parent"


ATTEMPTS: dict[str, Callable[..., str]] = {
    "network": network,
    "local_socket": local_socket,
    "read_file": read_file,
    "read_parent": read_parent,
    "see_environment": see_environment,
    "write_file": write_file,
    "send_signal": send_signal,
    "start_process": start_process,
    "start_thread": start_thread,
    "take_memory": take_memory,
    "raise_limit": raise_limit,
    "new_namespace": new_namespace,
    "trace_parent": trace_parent,
}
REFUSALS = (OSError, MemoryError, RuntimeError, ValueError)


class CanaryEnv:
    """An action is `attempt argument`; the observation says how it went."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "ready", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        name, _, argument = action.partition(" ")
        try:
            text = f"broke out: {ATTEMPTS[name](*[argument] if argument else [])}"
        except REFUSALS as refusal:
            text = f"held: {type(refusal).__name__}: {refusal}"
        except BaseException as error:  # noqa: BLE001
            text = f"broke out: could not be tried: {type(error).__name__}: {error}"
        return text, 0.0, False, False, {}
