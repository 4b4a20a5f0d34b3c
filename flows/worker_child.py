"""The process of one flow run, as the worker starts it: it ends with its worker, so that no run goes on unwatched."""

import ctypes
import os
import runpy
import signal
import sys

from flows.allocating import give_back_memory

PR_SET_PDEATHSIG = 1


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send us `number` when the thread that started us ends (Linux; elsewhere nothing happens)."""
    parent, libc = os.getppid(), ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        sys.exit("the worker ended before its flow run began")


if __name__ == "__main__":
    end_with_parent()
    give_back_memory()
    runpy.run_module("prefect.engine", run_name="__main__", alter_sys=True)
