"""A deadline that is fair on a loaded machine."""

from typing import NamedTuple

from sandbox.zygotes import pid_behind

SLICE = 0.02
"""Seconds between two looks at a process that seems to be kept from running."""
CAP = 120.0
"""A program that the machine starves may take this many times its wall budget, and no more. It cannot feign to starve:
only time counts in which it was ready to run and got no processor."""
STALLED = 0.25
"""A ready process that ran for less than this share of the time since the last look has been waiting."""


class Usage(NamedTuple):
    """Seconds a process has run and has waited for a processor, and whether it is ready to run now."""

    ran: float
    starved: float
    ready: bool


class Patience:
    """The deadline of one call: wall time, less the time in which the program was ready but got no processor.

    The kernel adds a wait to its books only when the wait is over, so a process that is found waiting at its deadline
    is looked at again until it has run.
    """

    def __init__(self, pidfd: int, wall_seconds: float, started: float) -> None:
        self.pidfd = pidfd
        self.wall_seconds = wall_seconds
        self.started = started
        self.deadline = started + wall_seconds
        self.first: Usage | None = None
        self.last = Usage(0.0, 0.0, False)
        self.looked = started

    def over(self, now: float) -> bool:
        """Whether the call has had its time. Called every now and then while it is waited for."""
        usage = usage_of(self.pidfd)
        if self.first is None:
            self.first = self.last = usage
        before, since, self.last, self.looked = self.last, now - self.looked, usage, now
        if now < self.deadline:
            return False
        if now - self.started > CAP * self.wall_seconds:
            return True
        lacking = self.wall_seconds - (now - self.started - (usage.starved - self.first.starved))
        if lacking <= 0 and not (usage.ready and usage.ran - before.ran < STALLED * since):
            return True
        self.deadline = now + max(lacking, SLICE)
        return False


def usage_of(pidfd: int) -> Usage:
    """What a process has had so far; nothing at all where the kernel does not say."""
    try:
        pid = pid_behind(pidfd)
        with open(f"/proc/{pid}/schedstat") as line:
            ran, starved, _ = map(int, line.read().split())
        with open(f"/proc/{pid}/stat") as line:
            ready = line.read().rpartition(")")[2].split()[0] == "R"
    except (OSError, ValueError, IndexError):
        return Usage(0.0, 0.0, False)
    return Usage(ran / 1e9, starved / 1e9, ready)
