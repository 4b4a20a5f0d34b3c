"""Runs that ended with their process: marked as interrupted, their slot freed, and followed by a run that goes on."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flows.deploying import TAG, deployments

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import FlowRun

RESUMABLE = "resumable"
"""A deployment with this tag goes on where a killed run of it ended."""
AFTER = "after:"
"""A run's tag that names how many killed runs in a row it follows."""
MOST_IN_A_ROW = 5
HEALTHY = timedelta(minutes=5)
"""A run that lasted this long does not count as one of a row of failures."""
LOOK_BACK = timedelta(days=1)


async def mark_interrupted(client: "PrefectClient", why: str) -> int:
    """Mark every run that the dead worker of this machine had under way; how many there were.

    Called only when no worker of the pool is alive: each flow's process ends with its worker.
    """
    from prefect.states import Crashed

    found = await _runs(client, ["RUNNING", "PENDING", "CANCELLING"])
    for run in found:
        await client.set_flow_run_state(run.id, Crashed(name="Interrupted", message=why), force=True)
    return len(found)


async def follow_up(client: "PrefectClient", seen: set[UUID]) -> list[str]:
    """Start a run after each killed one of a resumable deployment, once; the names of the new runs.

    `seen` holds the ids that were looked at before. After `MOST_IN_A_ROW` short runs nothing more is started.
    """
    started = []
    resumable = {d.id: d for d in await deployments(client) if RESUMABLE in d.tags}
    for run in await _runs(client, ["CRASHED"], since=datetime.now(UTC) - LOOK_BACK):
        if run.id in seen or run.deployment_id not in resumable:
            continue
        seen.add(run.id)
        row = _row(run)
        if row > MOST_IN_A_ROW:
            continue
        new = await client.create_flow_run_from_deployment(
            run.deployment_id,
            parameters=dict(run.parameters),
            idempotency_key=f"after-{run.id}",
            tags=[*(t for t in run.tags if not t.startswith(AFTER)), f"{AFTER}{row}"],
        )
        started.append(new.name)
    return started


def _row(run: "FlowRun") -> int:
    """How many killed runs in a row the next one follows."""
    lasted = run.total_run_time or timedelta()
    before = 0 if lasted > HEALTHY else max((int(t[len(AFTER) :]) for t in run.tags if t.startswith(AFTER)), default=0)
    return before + 1


async def _runs(client: "PrefectClient", types: list[str], since: datetime | None = None) -> "list[FlowRun]":
    from prefect.client.schemas.filters import (
        DeploymentFilter,
        DeploymentFilterTags,
        FlowRunFilter,
        FlowRunFilterEndTime,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.client.schemas.sorting import FlowRunSort

    wanted: Any = [StateType(t) for t in types]
    return await client.read_flow_runs(
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=wanted)),
            end_time=FlowRunFilterEndTime(after_=since) if since else None,
        ),
        deployment_filter=DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG])),
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=100,
    )
