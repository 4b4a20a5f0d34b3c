"""Cycle after cycle with a stub model in one process: memory, disk, failed runs.

    python benchmarks/soak.py [--quick] [--json] [--cycles N]

A flow run makes 10 cycles of 1 slot and 2 plays an arm over real HTTP, sandbox and Prefect server; `maintain` runs
every 100 cycles with retention of 50 cycles. Memory is the resident set of this process: all but server, stub and the
sandbox's children.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import resident
from benchmarks.reporting import Row, show
from flows.allocating import give_back_memory

ENVIRONMENT = {
    "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
    "SPADE_MEMORY__EMBEDDER": "hashed",
    "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
    "SPADE_ALARMS__MIN_VENDI": "0",
    "SPADE_RETENTION__TRANSCRIPTS_CYCLES": "50",
    "SPADE_RETENTION__ATTEMPTS_CYCLES": "50",
    "SPADE_RETENTION__REPORTS_CYCLES": "20",
}
A_RUN, UPKEEP_EVERY, WARM = 10, 100, 100


@dataclass
class Seen:
    """Resident MiB after each run, MiB on disk by folder after each upkeep, and how runs ended."""

    resident: dict[int, float] = field(default_factory=dict)
    disk: dict[int, dict[str, float]] = field(default_factory=dict)
    failed: int = 0
    finished: int = 0
    accepted: int = 0
    seconds: float = 0.0


async def soak(home: Path, base_url: str, cycles: int, upkeep_every: int) -> Seen:
    from data.catalog import Catalog
    from data.disk import disk_by_folder
    from flows.generate import generate
    from flows.maintain import maintain

    seen, started = Seen(), time.monotonic()
    common: dict[str, Any] = {"profile": "default", "base_url": base_url, "home": str(home), "slots": 1, "plays": 2}
    for done in range(A_RUN, cycles + 1, A_RUN):
        seen.failed += not (await generate(**common, cycles=A_RUN, return_state=True)).is_completed()
        if done % upkeep_every == 0:
            seen.failed += not (await maintain(profile="default", home=str(home), return_state=True)).is_completed()
            seen.disk[done] = {name: size / 2**20 for name, size in disk_by_folder(home).items()}
        seen.resident[done] = resident()
        print(f"{done} cycles, {seen.resident[done]:.0f} MiB, {time.monotonic() - started:.0f} s", file=sys.stderr)
    seen.seconds = time.monotonic() - started
    catalog = Catalog(home)
    seen.finished, seen.accepted = len(catalog.summaries()), len(catalog.scores())
    catalog.close()
    return seen


def rows(seen: Seen, cycles: int, warm: int) -> list[Row]:
    """Cycles and environments are counted from what is stored: a stub whose designs are refused plays nothing."""
    after = [mib for done, mib in seen.resident.items() if done >= warm]
    base, last = after[0], after[-1]
    drift = 100 * max(abs(mib - base) for mib in after) / base
    found = [
        Row("cycles finished", seen.finished, "", cycles),
        Row("environments played and scored", seen.accepted, "", round(0.95 * cycles)),
        Row("runs", seen.failed, "failed", 0),
        Row(f"resident after {warm} cycles", round(base, 1), "MiB"),
        Row("resident at the end", round(last, 1), "MiB"),
        Row(f"largest change after {warm} cycles", round(drift, 1), "%", 5),
        Row("a cycle", round(seen.seconds / cycles, 2), "s"),
    ]
    for done, folders in list(seen.disk.items())[-2:]:
        found.append(Row(f"disk after {done} cycles", round(sum(folders.values()), 1), "MiB"))
        found += [Row(f"  {name}", round(mib, 1), "MiB") for name, mib in folders.items()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 cycles: under a minute, says little about memory")
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    cycles = 20 if given.quick else given.cycles
    os.environ.update(ENVIRONMENT)
    give_back_memory()  # as the command line does: before pyarrow is loaded
    from benchmarks.stub_endpoint import stub_endpoint
    from flows.prefect_server import flush_prefect, prefect_server

    with tempfile.TemporaryDirectory() as folder, stub_endpoint(0.0) as base_url:
        home = Path(folder) / "var"
        home.mkdir()
        with prefect_server(home):
            seen = asyncio.run(soak(home, base_url, cycles, 10 if given.quick else UPKEEP_EVERY))
            flush_prefect()
        found = rows(seen, cycles, A_RUN if given.quick else WARM)
    show(found, as_lines=not given.json)


if __name__ == "__main__":
    main()
