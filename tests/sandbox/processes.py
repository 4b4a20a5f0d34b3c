"""What processes there are, for tests that must find none left."""

import os
import time
from collections.abc import Iterable
from pathlib import Path


def running(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX"


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def descendants(root: int) -> set[int]:
    """Every running process below `root`."""
    parents = {int(name): parent(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    found: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, above in parents.items() if above in fresh} - found
        found |= fresh
    return {pid for pid in found if running(pid)}


def all_gone(pids: Iterable[int], seconds: float) -> bool:
    """Whether all of them end within so many seconds."""
    deadline = time.monotonic() + seconds
    left = set(pids)
    while left and time.monotonic() < deadline:
        left = {pid for pid in left if running(pid)}
        time.sleep(0.002)
    return not left


def resident_bytes(pid: int | str = "self") -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
