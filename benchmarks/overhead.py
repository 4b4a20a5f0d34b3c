"""What orchestration costs: one cycle as a Prefect flow, and the same cycle with every task called as a plain function.

    python benchmarks/overhead.py [--quick] [--json]

24 environments, 4 plays an arm, a stub endpoint that takes 1 s a turn (8 and 0.25 s with --quick). Both runs
do the same work in the same sandbox, over the same HTTP, in the same process; the plain one has no tasks, artifacts or
server.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reporting import Row, as_json, machine
from benchmarks.stub_endpoint import stub_endpoint

ENVIRONMENT = {
    "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
    "SPADE_MEMORY__EMBEDDER": "hashed",
    "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
}
TARGET = 10.0


class Plain:
    """A task without its orchestration: retried after rejections, as the task is."""

    def __init__(self, task: Any, retries: int = 0) -> None:
        self._task, self.retries = task, retries

    async def __call__(self, *given: Any) -> Any:
        from tasks.retrying import Rejected

        for _ in range(self.retries):
            try:
                return await self._task.fn(*given)
            except Rejected:
                continue
        return await self._task.fn(*given)


async def nothing(*_: Any, **__: Any) -> None:
    """Instead of an artifact."""


@contextmanager
def without_prefect() -> Iterator[None]:
    """Every task of a cycle as a plain function, every artifact left out."""
    import flows.generate as generate
    from tasks import advancing, alarming, designing, exporting, hinting, playing, scoring

    names = {
        designing: ("design_environment", "judge_program"),
        hinting: ("write_hint",),
        playing: ("play_episodes",),
        scoring: ("score_environment",),
        exporting: ("export_sft_rows",),
        generate: ("curate", "write_pages"),
    }
    replaced = [(m, n, Plain(getattr(m, n))) for m, each in names.items() for n in each]
    replaced += [(generate, name, nothing) for name in ("show_cycle", "show_environment", "show_relatives")]
    replaced += [(advancing, "acreate_progress_artifact", nothing)]
    replaced += [(exporting, "show_dataset", nothing), (exporting, "show_validation", nothing)]
    replaced += [(alarming, "emit_event", lambda *_, **__: None)]
    patches = [patch.object(module, name, new) for module, name, new in replaced]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


async def cycle(home: Path, base_url: str, slots: int) -> float:
    """Seconds of one cycle, opening and closing left out."""
    from flows.configuring import flags_of, load_settings
    from flows.generate import finish_cycle, next_cycle
    from flows.opening import open_parts

    flags = {"home": str(home), "model__base_url": base_url, "model__concurrency": 256}
    settings = load_settings("default", flags_of(**flags, cycle__slots=slots, cycle__plays=4))
    async with open_parts(settings) as parts:
        started = time.perf_counter()
        await finish_cycle(parts, next_cycle(parts))
        return time.perf_counter() - started


def measured(folder: Path, base_url: str, slots: int) -> tuple[float, float]:
    """Seconds of a cycle with and without Prefect; each in a home of its own, after one small cycle to warm up."""
    from flows.prefect_server import flush_prefect, prefect_server

    (folder / "server").mkdir(parents=True)
    with prefect_server(folder / "server"):
        from prefect import flow

        as_flow = flow(name="overhead")(cycle)
        asyncio.run(as_flow(folder / "warm", base_url, 1))
        orchestrated = asyncio.run(as_flow(folder / "flow", base_url, slots))
        flush_prefect()
        with without_prefect():
            plain = asyncio.run(cycle(folder / "plain", base_url, slots))
    return orchestrated, plain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 environments, 0.25 s a turn")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    slots, pause = (8, 0.25) if given.quick else (24, 1.0)
    with tempfile.TemporaryDirectory() as folder, stub_endpoint(pause) as base_url:
        orchestrated, plain = measured(Path(folder), base_url, slots)
    share = 100 * (orchestrated - plain) / plain
    rows = [
        Row(f"cycle of {slots}, as a flow", round(orchestrated, 1), "s"),
        Row(f"cycle of {slots}, plain functions", round(plain, 1), "s"),
        Row("overhead", round(share, 1), "%", TARGET),
    ]
    if given.json:
        print(as_json(rows))
        return
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}, {pause} s a turn")
    for row in rows:
        print(row.line())


if __name__ == "__main__":
    main()
