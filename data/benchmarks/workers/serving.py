"""The far end of `data.benchmarks.worker`: JSON lines over standard input and output, one call at a time.

A call is `{"op": NAME, ...}`. The answer is `{"done": VALUE}`, `{"error": TEXT}`, or `{"ask": REQUEST}`, to which the
caller replies with `{"reply": VALUE}` or `{"stop": true}`. What a package prints goes to standard error.
"""

import ctypes
import json
import signal
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PR_SET_PDEATHSIG = 1
_WIRE = sys.stdout
sys.stdout = sys.stderr


class Stopped(Exception):
    """The caller has no answer to a question and ends the call."""


def say(value: Mapping[str, Any]) -> None:
    _WIRE.write(json.dumps(value, ensure_ascii=True, default=str) + "\n")
    _WIRE.flush()


def ask(value: Any) -> Any:
    """Ask the caller in the middle of a call. Raises `Stopped`."""
    say({"ask": value})
    answer = json.loads(sys.stdin.readline() or '{"stop": true}')
    if "reply" not in answer:
        raise Stopped
    return answer["reply"]


def version_of(distribution: str) -> str:
    """The installed version; empty when there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def die_with_parent() -> None:
    """A package that searches for minutes reads no input: where the kernel can, it ends this process with its caller,
    however that one ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def serve(operations: Mapping[str, Callable[..., Any]]) -> None:
    """Answer calls until standard input ends, or the caller does."""
    die_with_parent()
    for line in sys.stdin:
        call = json.loads(line)
        try:
            say({"done": operations[call.pop("op")](**call)})
        except Stopped:
            say({"error": "stopped"})
        except Exception as error:  # noqa: BLE001 - whatever a package raises is an answer
            say({"error": f"{type(error).__name__}: {error}"})
