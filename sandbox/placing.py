"""Where a program runs: a quick one beside its host, a slow one anywhere.

A round trip between two cores wakes a sleeping core twice; on one core the scheduler just switches. For a program that
answers in microseconds the wake-ups are most of the cost (measured: 17 to 20 us a step beside the host, 50 us and up
apart, in virtual machines far more), so it is kept on the core that its host's thread runs on. A program that computes
for long would then compete with its host; it is let go at its first slow answer.
"""

import ctypes
import os

from sandbox.zygotes import pid_behind

FIRST, EVERY = 8, 256
"""Quick answers before a program is moved, and between two looks at where the host is."""


class Place:
    """Where one process runs. Costs a counter per answer."""

    __slots__ = ("answers", "core", "pidfd")

    def __init__(self, pidfd: int) -> None:
        self.pidfd = pidfd
        self.core: int | None = None
        self.answers = 0

    def quick(self) -> None:
        """The program answered at once."""
        self.answers += 1
        if self.answers % EVERY == FIRST:
            self.follow()

    def slow(self) -> None:
        """The program made its host wait."""
        self.answers = 0
        if self.core is not None:
            self.move(os.sched_getaffinity(0))
            self.core = None

    def follow(self) -> None:
        core = current_core()
        if core >= 0 and core != self.core and len(os.sched_getaffinity(0)) > 1:
            self.core = core
            self.move({core})

    def move(self, cores: set[int]) -> None:
        try:
            os.sched_setaffinity(pid_behind(self.pidfd), cores)
        except OSError:
            return


def current_core() -> int:
    """The core that this thread runs on, -1 where that cannot be told."""
    try:
        return int(_libc.sched_getcpu())
    except AttributeError:
        return -1


_libc = ctypes.CDLL(None)
