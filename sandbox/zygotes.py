"""The host's handle on a fork server."""

import array
import json
import os
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from sandbox.launching import Launch, NotWorking, command, environment
from sandbox.waiting import Waiting, readable
from spade.errors import Retry
from spade.ports import Limits

START_SECONDS = 30.0
ANSWER_SECONDS = 5.0
SEND_BUFFER = 1 << 18


@dataclass(slots=True, eq=False)
class Newborn:
    """A cell that is hardening itself; nothing untrusted runs in it yet."""

    zygote: "Zygote"
    channel: socket.socket
    limits: Limits
    met: tuple[int, int] | None = None
    """Process number and pidfd, once they have been read."""

    @property
    def born(self) -> bool:
        """Whether its process is there."""
        return self.met is not None or readable(self.channel.fileno(), 0)

    def meet(self) -> None:
        """Read who it is, if it is there: time that is not spent when it is wanted."""
        if self.met is None and self.born:
            message, descriptors = receive(self.channel, socket.MSG_DONTWAIT)
            self.met = (message["pid"], descriptors[0]) if descriptors else None

    def let_go(self) -> None:
        """Nobody wants it; it ends when its connection does."""
        self.channel.close()
        if self.met is not None:
            os.close(self.met[1])


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: its wait status (None when unknown) and the CPU seconds it used."""

    status: int | None
    cpu_seconds: float


class Zygote:
    """A running fork server. Requests are single datagrams that bring their own reply socket, so any thread may ask."""

    def __init__(self, launch: Launch) -> None:
        """Start it and wait until it is ready. Raises `NotWorking`."""
        self.launch = launch
        self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inside, tempfile.TemporaryFile() as errors:
            try:
                arguments = command(launch, inside.fileno())
                self.process = subprocess.Popen(
                    arguments,
                    pass_fds=[inside.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=environment(launch),
                    cwd="/",
                    # One session for the server and all programs: no terminal, and one share of the processor where
                    # the kernel shares it out by session.
                    start_new_session=True,
                )
            except OSError as error:
                self.control.close()
                raise NotWorking(f"the fork server could not be started: {error}") from error
            except NotWorking:
                self.control.close()
                raise
            inside.close()
            ready, self.pidfd = self.first_words(errors)
        self.layers: dict[str, Any] = ready["layers"]
        self.reasons: dict[str, str] = ready["reasons"]
        self.host_pid = pid_behind(self.pidfd)
        self.inherited_bytes = address_space(self.host_pid)

    def first_words(self, errors: Any) -> tuple[dict[str, Any], int]:
        self.control.settimeout(START_SECONDS)
        try:
            message, descriptors = receive(self.control)
        except OSError as error:
            message, descriptors = {}, []
            reason = f"no answer: {error}"
        else:
            reason = "it ended at once"
        if not message or not descriptors:
            self.process.kill()
            self.process.wait()
            self.control.close()
            errors.seek(0)
            said = errors.read(2000).decode("utf-8", "replace").strip()
            raise NotWorking(said or reason)
        self.control.settimeout(ANSWER_SECONDS)
        return message, descriptors[0]

    @property
    def alive(self) -> bool:
        return not readable(self.pidfd, 0)

    def spawn(self, limits: Limits, *, guarded: bool = True, ahead: bool = False) -> Newborn:
        """Ask for a cell; `ahead` makes it wait until the server has nothing else to do.

        Raises `Retry` when the server is gone or this process has no descriptors left.
        """
        try:
            outside, inside = socket.socketpair()
        except OSError as error:
            raise Retry(f"no socket for another program: {error}.", "Raise the limit on open files.") from error
        with inside:
            outside.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            request = {
                "op": "spawn",
                "ahead": ahead,
                "guarded": guarded,
                "cpu_seconds": limits.cpu_seconds,
                "memory_mb": limits.memory_mb,
                "scratch_mb": limits.scratch_mb,
                "inherited_bytes": self.inherited_bytes,
            }
            self.ask(request, inside)
        return Newborn(self, outside, limits)

    def exit_of(self, pid: int) -> Exit:
        """How a cell that has ended did so."""
        outside, inside = socket.socketpair()
        with outside, inside:
            try:
                self.ask({"op": "exit", "pid": pid}, inside)
                inside.close()
                outside.settimeout(ANSWER_SECONDS)
                answer = json.loads(outside.recv(4096) or b"{}")
            except (OSError, Retry):
                answer = {}
        return Exit(answer.get("status"), answer.get("cpu_seconds", 0.0))

    def ask(self, request: dict[str, Any], reply: socket.socket) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [reply.fileno()]))]
        try:
            self.control.sendmsg([json.dumps(request).encode()], rights)
        except OSError as error:
            raise Retry(f"the sandbox's fork server is gone: {error}.") from error

    def close(self) -> None:
        """End the server and everything it started. Safe to call twice."""
        self.control.close()
        try:
            self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def disown(self) -> None:
        """In a forked copy of this process: let go, so that the server still ends with its real owner."""
        self.control.close()
        os.close(self.pidfd)


def receive(channel: socket.socket, flags: int = 0) -> tuple[dict[str, Any], list[int]]:
    """One trusted message with the descriptors it carries; an empty one when the other end is gone."""
    message, ancillary, _, _ = channel.recvmsg(4096, socket.CMSG_SPACE(8), socket.MSG_CMSG_CLOEXEC | flags)
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % 4])
    return (json.loads(message) if message else {}), descriptors.tolist()


def birth(newborn: Newborn) -> Waiting[tuple[int, int]]:
    """Wait for a cell's process number (as its server sees it) and pidfd. Raises `Retry`."""
    if newborn.met is not None:
        return newborn.met
    deadline = time.monotonic() + START_SECONDS
    channel = newborn.channel
    while True:
        try:
            message, descriptors = receive(channel, socket.MSG_DONTWAIT)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                channel.close()
                raise Retry("the sandbox's fork server does not answer.") from None
            yield channel.fileno(), 1.0
    if not descriptors:
        channel.close()
        raise Retry("the sandbox's fork server ended while starting a program.")
    return message["pid"], descriptors[0]


def pid_behind(pidfd: int) -> int:
    """The process number of a pidfd in our own process namespace; -1 when the process is gone. Raises `OSError`."""
    with open(f"/proc/self/fdinfo/{pidfd}") as lines:
        return next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), -1)


def address_space(pid: int) -> int:
    """Bytes of address space that a process has, which its forks inherit."""
    with open(f"/proc/{pid}/status") as lines:
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmSize:")), 1 << 29)
