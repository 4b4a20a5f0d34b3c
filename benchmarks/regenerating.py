"""One whole regeneration: 24 environments designed, judged, hinted, played 576 times, through Prefect and storage."""

import asyncio
import os
import time
from pathlib import Path

from benchmarks.reporting import Row

AGAIN = 3
"""Regenerations after the first of the process; the one in the middle is told."""


def regeneration(home: Path) -> list[Row]:
    """24 environments, 8 hinted plays each and 8 plain ones in each of two rounds, through every stage with storage and
    a Prefect server as a run starts it: when the gates refuse every other design, and when they refuse none."""
    os.environ |= {
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    from flows.prefect_server import prefect_server

    with prefect_server(home):
        return _measured(home)


def _measured(home: Path) -> list[Row]:
    from prefect import flow

    from flows.configuring import flags_of, load_settings
    from flows.generate import finish_cycle, next_cycle
    from flows.opening import open_parts
    from tests.fakes import WholeFactoryModel

    wanted = {"cycle__slots": 24, "cycle__plays": 8, "cycle__rounds": 2, "gates__random_win_max": 0.3}
    wanted |= {"memory__duplicate_code": 1.0}  # the scripted designer's locks differ in numbers alone

    @flow(name="regeneration")
    async def regenerate(place: str, faulty: bool) -> tuple[float, float, int]:
        settings = load_settings("default", flags_of(**wanted, home=str(home / place)))
        async with open_parts(settings, model=WholeFactoryModel(faulty=faulty)) as parts:
            started, worked = time.perf_counter(), time.process_time()
            summary = await finish_cycle(parts, next_cycle(parts))
            assert summary is not None
            return time.perf_counter() - started, time.process_time() - worked, summary.accepted

    first, _, _ = asyncio.run(regenerate("first", True))
    rows = [Row("regeneration, first of a process", round(first, 1), "s", 6.0)]
    for name, faulty in (("regeneration", True), ("regeneration, no design refused", False)):
        again = sorted(asyncio.run(regenerate(f"{name}-{number}", faulty)) for number in range(AGAIN))
        seconds, worked, accepted = again[AGAIN // 2]
        rows += [
            Row(name, round(seconds, 1), "s", 6.0),
            Row(f"{name}: processor time", round(worked, 1), "s"),
            Row(f"{name}: environments accepted of 24", accepted, ""),
        ]
    return rows
