"""How fast the catalog takes and gives: appends, one cycle out of many segments, SQL, lineage, merging, export.

    python benchmarks/store.py [--quick] [--json] [--episodes N] [--rows N] [--replays N] [--parts appends,lineage,...]

Times are wall time; medians where something is done repeatedly. Each part runs in a process and a temporary folder of
its own. Curation decides all three pools over every episode of a cycle, hinted ones too; replays, which the factory
does before it, are a part of their own: plays of ten turns, replayed in the sandbox, all of them compared.
"""

import argparse
import asyncio
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reporting import Row, as_json, machine
from benchmarks.rollouts import PROGRAM, Instant, rollout
from data.catalog import Catalog
from data.evidence import gathered
from data.export import export_sft
from data.lineage import lineage
from sandbox.opening import open_sandbox
from spade.attempts import Attempt, Prompt
from spade.curation import Decision, Pool, decide
from spade.curation_settings import CurationSettings
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.identity import digest
from spade.messages import Completion, Message, Role, Sampling, Tokens, Usage
from spade.outcomes import EpisodeOutcome
from spade.ports import Limits, Sandbox
from spade.replaying import replayed
from spade.settings import SandboxSettings
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from spade.verdicts import Status, Verdict
from tasks.curating import REPLAYS_AT_ONCE

PLAYS = 16
ENVIRONMENTS = 24
Figure = tuple[str, float, str]
TARGETS = {
    "lineage of an": 100,
    "curate and export": 60,
    "peak memory of export": 1024,
    "replay and compare": 200,
}
"""By how a figure's name begins; promised for the full sizes."""


def turn(number: int, mark: str, last: bool, tokens: int) -> Turn:
    ids = tuple(range(number, number + tokens))
    exact = Tokens(ids, ids[: tokens // 4], tuple(-0.01 * i for i in range(tokens // 4))) if tokens else None
    return Turn(
        f"Reply {number} to {mark}: the number is higher than {number * 7 % 100}.",
        f"I halve what is left, so I try {number * 13 % 100}. \\boxed{{{number * 13 % 100}}}",
        str(number * 13 % 100),
        float(last),
        terminated=last,
        tokens=exact,
    )


def episode(cycle_id: str, env_id: str, play: int, arm: Arm, turns: int, tokens: int) -> Episode:
    """A win, its texts different from play to play."""
    asked = Asked(cycle_id, env_id, 0, arm, play, play)
    mark = digest(f"{env_id} {play} {arm}")[:12]
    first = int(mark[:8], 16) % 10**6
    played = tuple(turn(first + i, mark, i == turns - 1, tokens) for i in range(turns))
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


def appends_and_reads(home: Path, segments: int) -> Iterator[Figure]:
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


def many(home: Path, episodes: int) -> Iterator[Figure]:
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


def export(home: Path, rows: int) -> Iterator[Figure]:
    """Plays of 4 turns curated, and the positives to JSONL and Parquet with all checks."""
    catalog = Catalog(home)
    cycles = max(1, round(rows / (PLAYS * ENVIRONMENTS)))
    for number in range(cycles):
        cycle_of(catalog, number, turns=4, decide=False)
    catalog.compact()
    started = time.perf_counter()
    for cycle in catalog.cycles():
        curate(catalog, cycle.cycle_id)
    curated = time.perf_counter() - started
    exported = export_sft(catalog, home, name="benchmark")
    seconds = time.perf_counter() - started
    assert exported is not None
    assert exported.dataset.rows == cycles * PLAYS * ENVIRONMENTS
    yield f"curate {2 * exported.dataset.rows:,} episodes", round(curated, 1), "s"
    yield f"export {exported.dataset.rows:,} rows", round(seconds - curated, 1), "s"
    yield f"curate and export {exported.dataset.rows:,} rows", round(seconds, 1), "s"


def curate(catalog: Catalog, cycle_id: str) -> None:
    """As the factory does after the replays."""
    episodes = catalog.episodes(cycle_id=cycle_id)
    replayed = frozenset(e.episode_id for e in episodes)
    settings = CurationSettings()
    evidence = gathered(catalog, cycle_id, episodes, settings, replayed)
    catalog.append("decisions", list(decide(episodes, evidence, settings.rules())))


def replaying(_: Path, count: int) -> Iterator[Figure]:
    """Plays of ten turns in the sandbox, then each again from its seed and actions, 16 an environment."""
    rate = asyncio.run(_replayed(count))
    yield f"replay and compare {count:,} plays of 10 turns", round(rate), "episodes/s"


async def _replayed(count: int) -> float:
    program, gate = PROGRAM.replace("LENGTH", "10"), asyncio.Semaphore(REPLAYS_AT_ONCE)

    async def again(sandbox: Sandbox, plays: Sequence[Episode]) -> int:
        async with gate:
            return len(await replayed(plays, program, sandbox, Limits()))

    async with open_sandbox(SandboxSettings()) as sandbox:
        episodes = [await rollout(sandbox, Instant(), number, 10) for number in range(count)]
        started = time.perf_counter()
        environments = [episodes[at : at + PLAYS] for at in range(0, count, PLAYS)]
        same = sum(await asyncio.gather(*(again(sandbox, plays) for plays in environments)))
        seconds = time.perf_counter() - started
    assert same == count, f"{count - same} of {count} plays do not replay"
    return count / seconds


PARTS: dict[str, Callable[[Path, int], Iterator[Figure]]] = {
    "appends": appends_and_reads,
    "lineage": many,
    "export": export,
    "replays": replaying,
}


def measured(part: str, size: int) -> list[Figure]:
    """One part's figures and the most memory that its process had."""
    with tempfile.TemporaryDirectory(prefix="spade-store-") as folder:
        found = list(PARTS[part](Path(folder), size))
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return [*found, (f"peak memory of {part}", peak, "MB")]


def target_of(name: str) -> float | None:
    return next((target for start, target in TARGETS.items() if name.startswith(start)), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--episodes", type=int, help="episodes of the lineage part")
    parser.add_argument("--rows", type=int, help="rows of the export part")
    parser.add_argument("--replays", type=int, help="plays of the replay part")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    sizes = {
        "appends": 30 if given.quick else 300,
        "lineage": given.episodes or (10_000 if given.quick else 1_000_000),
        "export": given.rows or (2_000 if given.quick else 100_000),
        "replays": given.replays or (200 if given.quick else 4_000),
    }
    rows: list[Row] = []
    if not given.json:
        print(machine(), flush=True)
    for part in given.parts.split(","):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            figures = alone.submit(measured, part, sizes[part]).result()
        rows += [Row(*figure, target_of(figure[0]) if not given.quick else None) for figure in figures]
        for row in () if given.json else rows[-len(figures) :]:
            print(row.line(), flush=True)
    if given.json:
        print(as_json(rows, machine=machine()))


if __name__ == "__main__":
    main()
