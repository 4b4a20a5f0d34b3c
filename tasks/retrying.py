"""What Prefect retries: a rejection by a gate, and what is called `Retry`. Nothing else is tried again."""

from typing import Any

from prefect.client.schemas.objects import State, TaskRun

from spade.errors import Retry, SpadeError


class Rejected(SpadeError):
    """A gate refused what the model wrote; the next attempt is told why."""

    def __init__(self, gate: str, message: str) -> None:
        super().__init__(f"{gate}: {message}")
        self.gate = gate


async def rejected_or_transient(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Prefect's `retry_condition_fn`: whether the task's exception is worth another run."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, (Rejected, Retry))
