"""Task runs under names of their own, which people find them by."""

from copy import copy
from typing import Any, TypeVar

T = TypeVar("T")


def named(task: T, name: str, *, retries: int | None = None) -> T:
    """The Prefect task `task` with another run name, and with `retries` where given.

    A copy and not `with_options`: that makes the task anew and reads its function's source each time (Prefect 3.9), a
    twentieth of what a cycle computes.
    """
    renamed: Any = copy(task)
    renamed.task_run_name = name
    if retries is not None:
        renamed.retries = retries
    found: T = renamed
    return found
