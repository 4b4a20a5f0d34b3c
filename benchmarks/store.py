"""How fast the catalog takes and gives: appends, one cycle out of many segments, SQL, lineage, merging, export.

    python benchmarks/store.py [--quick] [--json] [--episodes N] [--rows N]

Times are wall time; medians where something is done repeatedly. Runs in a temporary folder.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from data.catalog import Catalog
from data.export import export_sft
from data.lineage import lineage
from spade.attempts import Attempt, Prompt
from spade.curation import Decision, Pool
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.messages import Completion, Message, Role, Sampling, Tokens, Usage
from spade.outcomes import EpisodeOutcome
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from spade.verdicts import Status, Verdict

PLAYS = 16
ENVIRONMENTS = 24


def turn(number: int, last: bool, tokens: int) -> Turn:
    ids = tuple(range(number, number + tokens))
    exact = Tokens(ids, ids[: tokens // 4], tuple(-0.01 * i for i in range(tokens // 4))) if tokens else None
    return Turn(
        f"Reply {number}: the number is higher than {number * 7 % 100}.",
        f"I halve what is left, so I try {number * 13 % 100}. \\boxed{{{number * 13 % 100}}}",
        str(number * 13 % 100),
        float(last),
        terminated=last,
        tokens=exact,
    )


def episode(cycle_id: str, env_id: str, play: int, arm: Arm, turns: int, tokens: int) -> Episode:
    """A win, its texts different from play to play."""
    asked = Asked(cycle_id, env_id, 0, arm, play, play)
    first = abs(hash((env_id, play, arm))) % 10**6
    played = tuple(turn(first + i, i == turns - 1, tokens) for i in range(turns))
    return Episode(asked, EpisodeOutcome.COMPLETED, played, "model", "v1", 1.0, True, usage=Usage(400, 80))


def cycle_of(catalog: Catalog, number: int, turns: int, decide: bool) -> list[Episode]:
    """One whole cycle of 24 environments, 16 plays an arm: 768 episodes."""
    cycle = Cycle("0" * 12, 0, number)
    documents = [Document(f"passage {number} {i}") for i in range(ENVIRONMENTS)]
    asked_for = Prompt(Role.DESIGNER, (Message("user", f"Design {number}."),), "design", "0")
    slots = [
        Slot(cycle.cycle_id, i, Setting.GAMES, Skill.OPTIMIZATION, d.document_id, i) for i, d in enumerate(documents)
    ]
    environments = [Environment(f"class E{number}x{i}Env: ...", Setting.GAMES, Skill.OPTIMIZATION) for i in range(24)]
    passed = (Verdict("contract.class", Status.PASS),)
    attempts = [
        Attempt(s.slot_id, 0, asked_for.prompt_id, Completion(e.code, "model", "v1"), Sampling(), e.env_id, (), passed)
        for s, e in zip(slots, environments, strict=True)
    ]
    episodes = [
        episode(cycle.cycle_id, e.env_id, play, arm, turns, 0)
        for e in environments
        for arm in Arm
        for play in range(PLAYS)
    ]
    catalog.append("cycles", [cycle])
    catalog.append("documents", documents)
    catalog.append("slots", slots)
    catalog.append("prompts", [asked_for])
    catalog.append("attempts", attempts)
    catalog.append("environments", environments)
    catalog.append("episodes", episodes)
    if decide:
        catalog.append("decisions", [Decision(e.episode_id, Pool.POSITIVE, e.asked.arm is Arm.PLAIN) for e in episodes])
    return episodes


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def median_ms(work: Callable[[], Any], times: int) -> float:
    return round(1e3 * statistics.median(timed(work) for _ in range(times)), 1)


def appends_and_reads(home: Path, segments: int) -> Iterator[tuple[str, float, str]]:
    """64 episodes of 10 turns a segment, with 80 prompt and 20 output tokens a turn."""
    catalog = Catalog(home)
    batches = [
        [episode(f"cycle-{s // 10:016x}", f"env-{s:016x}", i, Arm.PLAIN, 10, 80) for i in range(64)]
        for s in range(segments)
    ]
    times = [timed(lambda batch=batch: catalog.append("episodes", batch)) for batch in batches]  # type: ignore[misc]
    yield "append 64 episodes of 10 turns", round(1e3 * statistics.median(times), 1), "ms"
    middle = f"cycle-{segments // 20:016x}"
    yield (
        f"first read of one cycle of {segments} segments",
        round(1e3 * timed(lambda: catalog.episodes(cycle_id=middle))),
        "ms",
    )
    yield "read of one cycle (640 episodes)", median_ms(lambda: catalog.episodes(cycle_id=middle), 5), "ms"
    sql = "select arm, avg(won::int) from episodes group by 1"
    catalog.query(sql)
    yield f"win rates over {segments} segments", median_ms(lambda: catalog.query(sql), 5), "ms"
    yield f"merge {segments} segments", round(timed(lambda: catalog.compact("episodes")), 2), "s"
    catalog.query(sql)
    yield "win rates after merging", median_ms(lambda: catalog.query(sql), 5), "ms"
    yield "read of one cycle after merging", median_ms(lambda: catalog.episodes(cycle_id=middle), 5), "ms"


def many(home: Path, episodes: int) -> Iterator[tuple[str, float, str]]:
    """Lineage and SQL over many episodes of 3 turns, merged."""
    catalog = Catalog(home)
    cycles = max(1, episodes // (2 * PLAYS * ENVIRONMENTS))
    started, stored = time.perf_counter(), 0
    for number in range(cycles):
        stored += len(cycle_of(catalog, number, turns=3, decide=True))
    yield f"store {stored:,} episodes with their chains", round(stored / (time.perf_counter() - started)), "episodes/s"
    yield f"merge {stored:,} episodes", round(timed(catalog.compact), 1), "s"
    catalog = Catalog(home)
    (row,) = catalog.query("select episode_id, env_id from episodes limit 1 offset ?", [stored // 2])
    yield "lineage, first in a process", round(1e3 * timed(lambda: lineage(catalog, row["episode_id"]))), "ms"
    yield f"lineage of an episode among {stored:,}", median_ms(lambda: lineage(catalog, row["episode_id"]), 7), "ms"
    yield f"lineage of an environment among {stored:,}", median_ms(lambda: lineage(catalog, row["env_id"]), 7), "ms"
    sql = 'select arm, avg("return") from episodes group by 1'
    yield f"mean return by arm of {stored:,}", median_ms(lambda: catalog.query(sql), 5), "ms"


def export(home: Path, rows: int) -> Iterator[tuple[str, float, str]]:
    """Positives of 4 turns to JSONL and Parquet with all checks."""
    catalog = Catalog(home)
    for number in range(max(1, rows // (PLAYS * ENVIRONMENTS))):
        cycle_of(catalog, number, turns=4, decide=True)
    started = time.perf_counter()
    exported = export_sft(catalog, home, name="benchmark")
    seconds = time.perf_counter() - started
    assert exported is not None
    yield f"export {exported.dataset.rows:,} rows", round(seconds, 1), "s"
    yield "export speed", round(exported.dataset.rows / seconds), "rows/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--episodes", type=int, help="episodes of the lineage part")
    parser.add_argument("--rows", type=int, help="rows of the export part")
    given = parser.parse_args()
    segments = 30 if given.quick else 300
    episodes = given.episodes or (10_000 if given.quick else 1_000_000)
    rows = given.rows or (2_000 if given.quick else 100_000)
    found: list[tuple[str, float, str]] = []
    with tempfile.TemporaryDirectory(prefix="spade-store-") as folder:
        parts = (
            appends_and_reads(Path(folder) / "a", segments),
            many(Path(folder) / "b", episodes),
            export(Path(folder) / "c", rows),
        )
        for part in parts:
            for name, value, unit in part:
                found.append((name, value, unit))
                if not given.json:
                    print(f"{name:<52} {value:>12,} {unit}", flush=True)
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    found.append(("peak memory", peak, "MB"))
    if given.json:
        machine = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
        print(json.dumps({**machine, "figures": [dict(zip(("name", "value", "unit"), f, strict=True)) for f in found]}))
    else:
        print(f"{'peak memory':<52} {peak:>12,} MB")


if __name__ == "__main__":
    main()
