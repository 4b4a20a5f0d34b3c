"""The co-evolution benchmark's rows: what a short run did not measure is no number."""

import json
import math
from typing import Any

from benchmarks.coevolve.reporting import rows_of


def run(arm: str, windows: int, accuracy: float) -> dict[str, Any]:
    curve = [{"episodes": plays, "accuracy": won} for plays, won in ((0, 0.2), (240, accuracy))]
    window = {"band": 0.3 if arm == "fixed" else 0.6, "entropy": 2.5, "vendi": 0.05}
    return {"arm": arm, "seed": 1, "done": True, "curve": curve, "windows": [window] * windows}


def test_a_whole_run_is_measured_against_the_pool() -> None:
    rows = {row["name"]: row for row in rows_of([run("fixed", 30, 0.3), run("ours", 30, 0.35)])}
    assert rows["ours: band share in the first third, 0.60, over the pool's 0.30"]["ok"] is True
    assert rows["ours: least gain over the warm start"]["ok"] is True
    assert math.isclose(rows["ours less fixed at the end"]["value"], 0.05)


def test_what_a_short_run_cannot_tell_is_null_and_valid_json() -> None:
    rows = rows_of([run("fixed", 2, 0.3), run("ours", 2, 0.35)])
    unknown = [row for row in rows if row["value"] is None]
    assert {row["ok"] for row in unknown} == {None}
    assert any("entropy" in row["name"] for row in unknown)
    assert any("band share" in row["name"] for row in unknown)
    json.dumps(rows, allow_nan=False)
