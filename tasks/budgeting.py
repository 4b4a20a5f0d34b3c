"""The live account of one time slice: which slots may begin, what each stretch used, and why the slice ends."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from prefect.artifacts import acreate_markdown_artifact

from data.catalog import Catalog
from data.disk import disk_bytes
from data.spending import stored_spending
from inference.accounts import Ledger
from spade.budgets import Allowance, Allowed, Spending, Spent
from spade.errors import Abort
from spade.settings import FactorySettings

DISK_SECONDS = 10.0
"""The disk is measured this often at most."""


class Budget:
    """What a slice may still use. Lives in one event loop, from the start of a run to its end.

    `stopped` says why no further slot begins; empty while they may.
    """

    def __init__(self, catalog: Catalog, settings: FactorySettings, ledger: Ledger) -> None:
        self.allowance = settings.budget.record()
        _check_price(self.allowance, settings)
        self.slice_id = f"slice-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        self.ledger = ledger
        self.stopped = ""
        self._catalog, self._home = catalog, Path(settings.home)
        self._before = stored_spending(catalog)
        self._started = time.monotonic()
        self._episodes = self._reserved = self._stretches = 0
        self._written = Spent()
        self._disk = (float("-inf"), 0)
        limited = self.allowance != Allowance()
        at_once = settings.budget.slots_at_once or settings.model.concurrency
        self._places = asyncio.Semaphore(at_once if limited else 2**31)

    @property
    def spent(self) -> Spent:
        """What this slice used so far."""
        used = self.ledger.total()
        tokens = used.prompt_tokens + used.completion_tokens
        return Spent(self._episodes, tokens, used.cost or 0.0, time.monotonic() - self._started)

    @property
    def total(self) -> Spent:
        """What everything stored used, this slice included."""
        return self._before + self.spent

    @asynccontextmanager
    async def slot(self, cycle_id: str, planned: int, stored: Callable[[], int]) -> AsyncIterator[bool]:
        """Whether a slot may begin that will have `planned` episodes; `stored` counts those that are there.

        When the block ends, what was used is written down.
        """
        async with self._places:
            if not await self._may_begin():
                yield False
                return
            before = stored()
            self._reserved += planned - before
            try:
                yield True
            finally:
                self._reserved -= planned - before
                self._episodes += stored() - before
            self.write(cycle_id)

    def stop(self, why: str) -> None:
        """No further slot begins; the first reason stays."""
        self.stopped = self.stopped or why

    def write(self, cycle_id: str) -> None:
        """Store what was used since the last time."""
        stretch, self._written = self.spent - self._written, self.spent
        spending = Spending.of(self.slice_id, self._stretches, cycle_id, time.time(), stretch, self.stopped)
        self._stretches += 1
        self._catalog.append("spendings", [spending])

    async def _may_begin(self) -> bool:
        if not self.stopped:
            reserved = Spent(episodes=self._reserved)
            disk = await self._disk_bytes() if self.allowance.disk_bytes is not None else 0
            self.stopped = self.allowance.reason(self.spent, self.total, disk, reserved)
        return not self.stopped

    async def _disk_bytes(self) -> int:
        at, _ = self._disk
        if time.monotonic() - at > DISK_SECONDS:
            self._disk = (time.monotonic(), await asyncio.to_thread(disk_bytes, self._home))
        return self._disk[1]


async def show_budget(budget: Budget) -> None:
    """What the slice and everything so far used, against what is allowed."""
    await acreate_markdown_artifact(key="budget", markdown=budget_markdown(budget), description="Budget")


def budget_markdown(budget: Budget) -> str:
    """The account of a slice as a table."""
    rows = [
        f"| {name} | {getattr(budget.spent, name):,.{digits}f} | {_limit(budget.allowance.slice, name, digits)} "
        f"| {getattr(budget.total, name):,.{digits}f} | {_limit(budget.allowance.total, name, digits)} |"
        for name, digits in (("episodes", 0), ("tokens", 0), ("cost", 2), ("seconds", 0))
    ]
    head = "| | this slice | its limit | in all | its limit |\n|---|---:|---:|---:|---:|"
    why = f"Stopped at a slot border: {budget.stopped}." if budget.stopped else "Nothing is used up."
    return "\n".join([f"Slice `{budget.slice_id}`. {why}", "", head, *rows])


def _limit(allowed: Allowed, name: str, digits: int) -> str:
    limit = getattr(allowed, name)
    return "–" if limit is None else f"{limit:,.{digits}f}"


def _check_price(allowance: Allowance, settings: FactorySettings) -> None:
    wanted = allowance.slice.cost is not None or allowance.total.cost is not None
    if wanted and settings.model.price_per_million is None:
        raise Abort(
            "A budget in money needs to know what tokens cost.", "Set model.price_per_million = [prompt, completion]."
        )
