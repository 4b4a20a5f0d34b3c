"""A hundred kills at seeded points; after each the catalog's rules hold and the next run goes on within seconds."""

from pathlib import Path

import pytest

from tests.flows.killing import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_lost_or_doubled_by_25_kills(tmp_path: Path, seed: int) -> None:
    tally = await Bench(tmp_path, seed).kill_often(25)

    assert tally.wrong == []
    assert tally.kills == 25
    for victim, seconds in sorted(tally.recoveries.items()):
        print(f"{victim}: {len(seconds)} kills, next file stored within {max(seconds):.1f} s at most")
