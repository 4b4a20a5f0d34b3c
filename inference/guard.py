"""Runs a command for as long as its own standard input stays open and its parent lives, then ends the command's whole
process group: politely, and after `GRACE` seconds for sure. Started by `inference.vllm_server`; standard library only.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

GRACE = 10.0


def main() -> None:
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the closing of the pipe is the one way to end
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_me)
    while child.poll() is None and os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], 1.0)
        if readable and not os.read(0, 4096):
            break
    if child.poll() is None:
        _signal(child.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
    _signal(child.pid, signal.SIGKILL)  # workers outlive a leader that was killed
    sys.exit(child.wait())


def _die_with_me() -> None:
    """In the child: PR_SET_PDEATHSIG, should this process be killed before it can end the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(1, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    main()
