"""A slice ends at a slot border with its reason, and the next one goes on: nothing lost, nothing twice."""

from pathlib import Path
from typing import Any

import pytest
from prefect import flow

from data.catalog import Catalog
from data.spending import stored_spending
from flows.generate import finish_cycle, next_cycle
from spade.errors import Abort
from spade.summary import CycleSummary
from tests.fakes import WholeFactoryModel
from tests.flows.test_cycle import parts_with

pytestmark = pytest.mark.usefixtures("prefect_server")
SLOTS, PLAYS = 3, 4


async def one_slice(home: Path, **flags: Any) -> tuple[CycleSummary | None, str]:
    """What one run with these flags came to, and why it stopped."""

    @flow(name="slice-under-test")
    async def slice_under_test() -> tuple[CycleSummary | None, str]:
        async with parts_with(WholeFactoryModel(), home, budget__slots_at_once=1, **flags) as parts:
            summary = await finish_cycle(parts, next_cycle(parts))
            return summary, parts.budget.stopped

    return await slice_under_test()


def rows(home: Path, sql: str) -> list[dict[str, Any]]:
    catalog = Catalog(home)
    try:
        return catalog.query(sql)
    finally:
        catalog.close()


async def test_a_slice_stops_at_a_slot_border_and_the_next_ones_finish_the_cycle(tmp_path: Path) -> None:
    reasons, summary, counts = [], None, []
    for _ in range(SLOTS):
        summary, why = await one_slice(tmp_path, budget__slice__episodes=2 * PLAYS)
        reasons.append(why)
        counts.append(rows(tmp_path, "select count(*) as n from episodes")[0]["n"])

    assert all("slice's budget is spent: 8 of 8 episodes" in why for why in reasons[:-1])
    assert counts == [8, 16, 24]
    assert reasons[-1] == ""
    assert summary is not None
    assert summary.episodes == SLOTS * 2 * PLAYS


async def test_a_total_budget_outlives_the_slice(tmp_path: Path) -> None:
    for _ in range(2):
        summary, why = await one_slice(tmp_path, budget__total__tokens=1)
        assert summary is None
    assert "total's budget is spent" in why
    assert rows(tmp_path, "select count(distinct env_id) as n from episodes")[0]["n"] == 1


async def test_spending_is_stored_at_each_border(tmp_path: Path) -> None:
    await one_slice(tmp_path)
    stored = rows(
        tmp_path, "select sum(episodes) as e, sum(tokens) as t, sum(seconds) as s, count(*) as n from spendings"
    )

    catalog = Catalog(tmp_path)
    spent = stored_spending(catalog)
    catalog.close()
    assert stored[0]["n"] == SLOTS
    assert (stored[0]["e"], stored[0]["t"]) == (spent.episodes, spent.tokens)
    assert spent.seconds == pytest.approx(stored[0]["s"])


async def test_the_disk_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(b"\1" * 2**21)
    summary, why = await one_slice(tmp_path, budget__disk_mb=1)

    assert summary is None
    assert "disk budget" in why


async def test_a_budget_in_money_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="what tokens cost"):
        await one_slice(tmp_path, budget__slice__cost=1.0)
