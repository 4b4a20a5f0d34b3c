"""Task runs as people find them in the Prefect UI: under names of their own, linked to what they follow from."""

from collections.abc import Callable, Coroutine, Iterable
from copy import copy
from typing import Any, ParamSpec, TypeVar

from prefect import Task
from prefect.context import FlowRunContext
from prefect.utilities.annotations import opaque, quote

P = ParamSpec("P")
T = TypeVar("T")


def named(
    task: Task[P, Coroutine[Any, Any, T]], name: str, *, retries: int | None = None, after: Iterable[object] = ()
) -> Callable[P, Coroutine[Any, Any, T]]:
    """The Prefect task `task` under another run name, and with `retries` where given. In the run graph it follows the
    tasks of this flow run that returned the objects `after`, or what holds these: so says identity, not equality.

    A copy and not `with_options`: that makes the task anew and reads its function's source each time (Prefect 3.9), a
    twentieth of what a cycle computes. Its arguments are quoted: Prefect otherwise looks through them for results of
    other tasks, down to each token of a record, twice a call and on the event loop, 5 µs each time; and it takes parts
    that two results share, or that have a freed one's address, for a link.
    """
    renamed: Any = copy(task)
    renamed.task_run_name = name
    if retries is not None:
        renamed.retries = retries
    follows = [opaque(each) for each in after] or None

    def run(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        by_name = {key: quote(value) for key, value in kwargs.items()}
        found: Coroutine[Any, Any, T] = renamed(*map(quote, args), **by_name, wait_for=follows)
        return found

    return run


def forget_results() -> None:
    """Let go of which task returned what. Prefect keeps it until a flow run ends, by address, and a flow run of ours
    may have cycles for days: links of one would come up in another."""
    context = FlowRunContext.get()
    if context is not None:
        context.run_results.clear()
