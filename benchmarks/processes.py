"""Processes of benchmarks: servers of their own, and how much memory one has."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(module: str, argument: float) -> Iterator[str]:
    """The address that `python -m MODULE ARGUMENT` prints first; it ends when its standard input closes."""
    command = [sys.executable, "-m", module, str(argument)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def memory_of(pid: int, what: str) -> float:
    """MiB of a process by a line of its status: `VmRSS` now, `VmHWM` at its peak; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(what)), 0.0)


def resident() -> float:
    """MiB of this process."""
    return memory_of(os.getpid(), "VmRSS")
