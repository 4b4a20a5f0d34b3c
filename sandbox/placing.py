"""Where a program runs while many are played: a crowd of quick ones apart from its host, a slow one anywhere.

A single quick program needs no place: host and program wait for each other awake (`driver.attention`), which only pays
on two cores, and the scheduler gives two processes that are awake a core each. In a crowd neither side waits: there the
programs have the other cores, and the host its own. One that computes for long is let go at its first slow answer.
"""

import ctypes
import os

from sandbox.zygotes import pid_behind

FIRST, EVERY = 8, 32
"""Quick answers before a program is moved, and between two looks at whether there is a crowd (a move costs thirty
microseconds)."""


class Place:
    """Where one process runs. Costs a counter per answer."""

    __slots__ = ("answers", "cores", "crowd", "pidfd")

    def __init__(self, pidfd: int) -> None:
        self.pidfd = pidfd
        self.cores: frozenset[int] = frozenset()
        """Where it has been put; empty: wherever the kernel likes."""
        self.crowd: frozenset[int] = frozenset()
        """Where all belong while many are played at once; empty: there is no crowd."""
        self.answers = 0

    def quick(self) -> None:
        """The program answered at once."""
        self.answers += 1
        if self.answers % EVERY == FIRST:
            self.follow()

    def slow(self) -> None:
        """The program made its host wait."""
        self.answers = 0
        if self.cores:
            self.move(frozenset(os.sched_getaffinity(0)))
            self.cores = frozenset()

    def follow(self) -> None:
        if self.crowd and self.crowd != self.cores:
            self.cores = self.crowd
            self.move(self.crowd)

    def move(self, cores: frozenset[int]) -> None:
        try:
            os.sched_setaffinity(pid_behind(self.pidfd), cores)
        except OSError:
            return


def cores_for_crowd() -> frozenset[int]:
    """All cores but the one this thread is on now. The scheduler soon leaves that one to the host, so the choice is
    made once for a crowd: following the host about would cost more than it gives."""
    core, allowed = current_core(), os.sched_getaffinity(0)
    return frozenset(allowed - {core}) if core >= 0 and len(allowed) > 1 else frozenset()


def current_core() -> int:
    """The core that this thread runs on, -1 where that cannot be told."""
    try:
        return int(_libc.sched_getcpu())
    except AttributeError:
        return -1


_libc = ctypes.CDLL(None)
