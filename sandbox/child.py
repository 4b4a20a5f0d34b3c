"""The host's handle on one cell: frames out and in, a deadline that is fair on a loaded machine, and a sure kill."""

import os
import signal
import socket
import struct
import time
from collections.abc import Callable

from sandbox.driver import frames
from sandbox.patience import SLICE, Patience
from sandbox.replies import BadFrame
from sandbox.waiting import Waiting, readable
from sandbox.zygotes import Newborn
from spade.outcomes import CallOutcome, Reply
from spade.ports import Limits

CHUNK = 1 << 14
BRIEF = struct.pack("@ll", 0, 500)
"""Receive timeout of the quick attempt, in seconds and microseconds; the kernel rounds it up to its own tick."""
LONG_SLICE = 0.25
"""How often a waiting call looks at the clock at least, in seconds."""
DEATH_SECONDS = 5.0
LAST_BREATH = 0.5
"""Seconds from the end of a connection to the end of its process, when that is why it ended."""


class Child:
    """One process that runs one untrusted program."""

    def __init__(self, newborn: Newborn, pid: int, pidfd: int) -> None:
        self.zygote = newborn.zygote
        self.limits: Limits = newborn.limits
        self.channel = newborn.channel
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, BRIEF)
        self.pid = pid
        self.pidfd = pidfd
        self.sequence = 0
        self.partial = bytearray()
        self.closed = False
        self.on_close: Callable[[], None] = lambda: None
        """Called before the descriptors are closed."""

    def send(self, kind: int, body: bytes) -> None:
        """Send a request; it always fits the socket's buffer, since the child has read everything before it answered.

        Raises `EOFError` when the child is gone, `BadFrame` when it does not read.
        """
        self.sequence += 1
        request = frames.frame(self.sequence, kind, body)
        try:
            sent = self.channel.send(request, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise EOFError from error
        if sent != len(request):
            raise BadFrame("a request was not read")

    def receive(self, flags: int = socket.MSG_DONTWAIT) -> tuple[int, bytes] | None:
        """Kind and body of the reply, or None when it is not complete yet.

        With `flags` 0 it waits for a moment. Raises `EOFError` when the child is gone and `BadFrame` when it broke the
        protocol.
        """
        try:
            data = self.channel.recv(CHUNK, flags)
        except BlockingIOError:
            return None
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        if self.partial or len(data) < frames.HEAD.size:
            return self.assemble(data)
        length, sequence, kind = frames.HEAD.unpack_from(data)
        if len(data) - 4 < length:
            return self.assemble(data)
        return self.checked(length, sequence, kind, data)

    def assemble(self, data: bytes) -> tuple[int, bytes] | None:
        """Collect a reply that comes in pieces, never more of it than the cap."""
        self.partial += data
        if len(self.partial) < frames.COUNT.size:
            return None
        (length,) = frames.COUNT.unpack_from(self.partial)
        if not frames.HEAD_AFTER_LENGTH <= length <= frames.MAX_FRAME:
            raise BadFrame(f"an answer of {length} bytes")
        if len(self.partial) - 4 < length:
            return None
        _, sequence, kind = frames.HEAD.unpack_from(self.partial)
        whole = bytes(self.partial)
        self.partial.clear()
        return self.checked(length, sequence, kind, whole)

    def checked(self, length: int, sequence: int, kind: int, data: bytes) -> tuple[int, bytes]:
        if len(data) - 4 != length:
            raise BadFrame("more than one answer")
        if kind == frames.UNSTARTED and sequence == 0:
            raise BadFrame(f"its process could not be set up: {data[frames.HEAD.size :].decode('utf-8', 'replace')}")
        if sequence != self.sequence & 0xFFFFFFFF:
            raise BadFrame("an answer nobody asked for")
        return kind, data[frames.HEAD.size :]

    def answer(self, started: float) -> Waiting[tuple[int, bytes]]:
        """Wait for the reply to the request just sent. Raises `TimeoutError`, `EOFError` or `BadFrame`."""
        patience = Patience(self.pidfd, self.limits.wall_seconds, started)
        waited = False
        while True:
            received = self.receive()
            if received is not None:
                return received
            now = time.monotonic()
            # Most answers come within the first slice: until then a look at the kernel's books is not worth its price.
            if waited and patience.over(now):
                raise TimeoutError
            yield self.channel.fileno(), min(max(patience.deadline - now, SLICE), LONG_SLICE) if waited else SLICE
            waited = True

    def kill(self) -> None:
        """Send the kill; it takes the process wherever it is, and everything it could have started."""
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        except (ProcessLookupError, OSError):
            return

    def death(self) -> Waiting[bool]:
        """Kill, and wait until the process is really gone. Answers whether it is."""
        self.kill()
        return (yield from self.ended(DEATH_SECONDS))

    def ended(self, seconds: float = LAST_BREATH) -> Waiting[bool]:
        """Whether the process ends by itself within so many seconds."""
        deadline = time.monotonic() + seconds
        while not readable(self.pidfd, 0):
            if time.monotonic() > deadline:
                return False
            yield self.pidfd, SLICE
        return True

    def close(self) -> None:
        """Kill without waiting, and let go of the descriptors."""
        if not self.closed:
            self.closed = True
            self.on_close()
            self.kill()
            self.channel.close()
            os.close(self.pidfd)

    def disown(self) -> None:
        """In a forked copy of this process: let go without a kill."""
        if not self.closed:
            self.closed = True
            self.channel.close()
            os.close(self.pidfd)

    def obituary(self) -> Reply:
        """Why the process, which has ended without being killed by us, is gone."""
        if not self.zygote.alive:
            return Reply(CallOutcome.SANDBOX_LOST, detail="the sandbox's fork server ended")
        end = self.zygote.exit_of(self.pid)
        if end.cpu_seconds >= self.limits.cpu_seconds:
            return Reply(CallOutcome.ENV_TIMEOUT, detail=f"used up its {self.limits.cpu_seconds:g} s of CPU time")
        if end.status is None:
            return Reply(CallOutcome.ENV_PROTOCOL, detail="its process ended")
        if not os.WIFSIGNALED(end.status):
            code = os.waitstatus_to_exitcode(end.status)
            return Reply(CallOutcome.ENV_PROTOCOL, detail=f"it ended its own process (exit status {code})")
        number = os.WTERMSIG(end.status)
        if number == signal.SIGXCPU:
            return Reply(CallOutcome.ENV_TIMEOUT, detail=f"used up its {self.limits.cpu_seconds:g} s of CPU time")
        if number == signal.SIGKILL:
            return Reply(CallOutcome.ENV_MEMORY, detail="killed by the kernel, as it does when memory runs out")
        return Reply(CallOutcome.ENV_PROTOCOL, detail=f"its process crashed ({signal.Signals(number).name})")
