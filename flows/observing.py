"""What looks on while a flow runs: the display, where the command line set one; the event log; metrics, if wanted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import httpx
from prefect.exceptions import PrefectHTTPStatusError
from prefect.runtime import flow_run

from flows.event_log import EventLog, LogLines, secrets_of
from flows.preflight import writable
from spade.settings import FactorySettings
from tasks.budgeting import Budget
from tasks.factory import Nobody, Watcher
from tasks.observing import Several

if TYPE_CHECKING:
    from flows.metrics import Metrics

WATCHER: ContextVar[Watcher] = ContextVar("WATCHER", default=Nobody())  # noqa: B039 - it holds no state
"""Who looks on; the command line puts its display here. A flow takes values only, so it cannot be a parameter."""


@dataclass(frozen=True)
class Observed:
    """`watcher` is who sees everything; `metrics_port` is where scrapes are answered, None where they are not."""

    watcher: Watcher
    metrics_port: int | None = None
    metrics: "Metrics | None" = None

    async def searchable(self, *names: str) -> None:
        """Add tags to this flow run, so that it is found by them in the UI. A server that does not answer is not worth
        a run."""
        from prefect.client.orchestration import get_client

        if flow_run.id is None:
            return
        with suppress(httpx.HTTPError, PrefectHTTPStatusError):
            async with get_client() as client:
                await client.update_flow_run(UUID(flow_run.id), tags={*flow_run.tags, *names})

    def watch(self, budget: Budget) -> None:
        """Show a budget among the metrics."""
        if self.metrics is not None:
            self.metrics.watch(budget)


@asynccontextmanager
async def observed(settings: FactorySettings) -> AsyncIterator[Observed]:
    """Inside the block everything that happens is written to `logs/events.jsonl` and counted for scrapes.

    Raises `Abort` when the folder cannot be written or the metrics' port is taken.
    """
    writable(settings.home)
    common = {"run": str(flow_run.id or ""), "run_name": str(flow_run.name or "")}
    async with AsyncExitStack() as stack:
        log = EventLog(settings.home / "logs" / "events.jsonl", common, secrets_of(settings))
        stack.callback(log.close)
        lines = LogLines(log)
        lines.attach()
        stack.callback(lines.detach)
        found = Observed(Several(WATCHER.get(), log))
        if settings.metrics.port is not None:
            found = _measured(stack, found, settings)
            log.saw("metrics", f"http://127.0.0.1:{found.metrics_port}/metrics")
        token = WATCHER.set(found.watcher)
        stack.callback(WATCHER.reset, token)
        yield found


def _measured(stack: AsyncExitStack, found: Observed, settings: FactorySettings) -> Observed:
    from flows.metrics import Metrics, measure_lag, served

    metrics = Metrics(calls_at_once=settings.model.concurrency)
    port = stack.enter_context(served(metrics, settings.metrics.port or 0))
    lag = asyncio.create_task(measure_lag(metrics), name="lag of the event loop")
    stack.callback(lag.cancel)
    return Observed(Several(found.watcher, metrics), port, metrics)
