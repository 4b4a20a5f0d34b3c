"""What Prometheus reads of a running flow, on loopback: plays, calls, sandbox starts, budget, lag of the event loop."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from flows.prefect_server import LOOPBACK
from spade.errors import Abort
from tasks.budgeting import Budget

CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
START_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)
LOOK_SECONDS = 0.5
UNITS = ("episodes", "tokens", "cost", "seconds")


class Metrics:
    """Implements `tasks.factory.Watcher`: events become figures of a registry of its own. `calls_at_once` is how many
    calls the endpoint gets; of those open, the others wait."""

    def __init__(self, calls_at_once: int) -> None:
        self.registry = CollectorRegistry()
        at_once = Gauge("spade_model_calls_at_once", "Calls under way at once, at most.", registry=self.registry)
        at_once.set(calls_at_once)
        self._episodes = self._counter("episodes", "Plays that ended.", "arm", "outcome")
        self._won = self._counter("wins", "Plays that were won.", "arm")
        self._attempts = self._counter("refused_attempts", "Designs that a gate refused.", "gate")
        self._slots = self._counter("slots", "Slots that ended: designed or dropped.", "ended")
        self._cycles = self._counter("cycles", "Cycles that were finished.")
        self._alarms = self._counter("alarms", "Alarms that ended a slice.")
        self._calls = self._counter("model_calls", "Calls of the model that ended.", "role", "ended")
        self._tokens = self._counter("model_tokens", "Tokens of answered calls.", "role", "kind")
        self._open_calls = Gauge(
            "spade_model_calls_open", "Calls waiting for their turn or an answer.", ["role"], registry=self.registry
        )
        self._call_seconds = self._histogram("model_call_seconds", "Waiting, retries included.", CALL_SECONDS, "role")
        self._starts = self._counter("sandbox_starts", "Programs that were started.", "outcome")
        self._start_seconds = self._histogram("sandbox_start_seconds", "From asking to loaded.", START_SECONDS)
        self._updates = self._counter("updates", "Updates of the policy.")
        self._update_seconds = self._histogram("update_seconds", "Of one update.", (1, 10, 60, 300, 1800, 7200))
        self.lag = self._histogram("event_loop_lag_seconds", "How late the loop woke a sleeper.", LAG_SECONDS)

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        """One event of the run; stages without a figure are ignored."""
        handler = getattr(self, f"_on_{stage}", None)
        if handler is not None:
            handler(subject, **facts)

    def watch(self, budget: Budget) -> None:
        """Show what the budget's slice and everything stored used, and what is allowed; read at each scrape."""
        used = Gauge("spade_budget_used", "Used so far.", ["scope", "unit"], registry=self.registry)
        limit = Gauge("spade_budget_limit", "The most that may be used.", ["scope", "unit"], registry=self.registry)
        for unit in UNITS:
            used.labels("slice", unit).set_function(partial(_used, budget, "spent", unit))
            used.labels("total", unit).set_function(partial(_used, budget, "total", unit))
            for scope, allowed in (("slice", budget.allowance.slice), ("total", budget.allowance.total)):
                if getattr(allowed, unit) is not None:
                    limit.labels(scope, unit).set(getattr(allowed, unit))

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(f"spade_{name}", help_, labels, registry=self.registry)

    def _histogram(self, name: str, help_: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"spade_{name}", help_, labels, buckets=buckets, registry=self.registry)

    def _on_episode(self, _: str, *, arm: str, outcome: str, won: bool | None, **__: Any) -> None:
        self._episodes.labels(str(arm), str(outcome)).inc()
        if won:
            self._won.labels(str(arm)).inc()

    def _on_refused(self, _: str, *, gate: str) -> None:
        self._attempts.labels(gate).inc()

    def _on_designed(self, _: str) -> None:
        self._slots.labels("designed").inc()

    def _on_dropped(self, _: str, **__: Any) -> None:
        self._slots.labels("dropped").inc()

    def _on_finished(self, _: str, **__: Any) -> None:
        self._cycles.inc()

    def _on_alarm(self, _: str, **__: Any) -> None:
        self._alarms.inc()

    def _on_asked(self, role: str) -> None:
        self._open_calls.labels(role).inc()

    def _on_answered(self, role: str, *, ended: str, seconds: float, tokens: tuple[int, int]) -> None:
        self._open_calls.labels(role).dec()
        self._calls.labels(role, ended).inc()
        if ended == "ok":
            self._call_seconds.labels(role).observe(seconds)
            self._tokens.labels(role, "prompt").inc(tokens[0])
            self._tokens.labels(role, "completion").inc(tokens[1])

    def _on_started(self, outcome: str, *, seconds: float) -> None:
        self._starts.labels(outcome).inc()
        self._start_seconds.observe(seconds)

    def _on_updated(self, _: str, *, seconds: float, **__: Any) -> None:
        self._updates.inc()
        self._update_seconds.observe(seconds)


def _used(budget: Budget, scope: str, unit: str) -> float:
    return float(getattr(getattr(budget, scope), unit))


@contextmanager
def served(metrics: Metrics, port: int) -> Iterator[int]:
    """Answer scrapes at http://127.0.0.1:port/metrics for the length of the block; 0 takes a free port. Yields the
    port. Raises `Abort` when it is taken."""
    try:
        server, thread = start_http_server(port, addr=LOOPBACK, registry=metrics.registry)
    except OSError as error:
        raise Abort(
            f"Metrics cannot be served on port {port}: {error.strerror}.",
            "Another run on this machine has it? Give one of them another metrics.port, or leave it empty.",
        ) from error
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def measure_lag(metrics: Metrics) -> None:
    """Sleep and see how late the loop wakes us, for ever."""
    with suppress(asyncio.CancelledError):
        while True:
            due = time.monotonic() + LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
            metrics.lag.observe(max(0.0, time.monotonic() - due))
