"""How fast the memory takes and finds environments, at 1,000, 10,000 and 100,000 of them.

    python benchmarks/memory.py [--quick] [--json] [--embedder hashed|minilm] [--sizes N ...]

Texts are made up; vectors come from the embedder named. Medians of 15; searches take the embedding of the query along.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reporting import Row, as_json, machine
from data.embedding import open_embedder
from data.memory import VectorMemory
from spade.skills import GAME_SKILLS

NEAREST_MS = 10
WORDS = (  # noqa: SIM905 - a sentence reads better than forty quotes
    "guess number maze door key weigh coin balance light switch row grid path step sort card rule hidden pattern cost "
    "budget route tank valve pressure gear wheel signal code letter word cycle graph node edge colour tile jump swap"
).split()


def items(first: int, count: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Made-up descriptions with the payload of a small program each."""
    found = []
    for number in range(first, first + count):
        rng = Random(number)
        text = " ".join(rng.choice(WORDS) for _ in range(14))
        payload = {
            "skill": rng.choice(GAME_SKILLS).value,
            "title": text[:30],
            "mechanic": text,
            "win_rate": rng.random(),
            "regret": rng.random() - 0.3,
            "code": "x = 1\n" * 400,
        }
        found.append((f"env-{number:016x}", text, payload))
    return found


def median_ms(work: Callable[[int], Any], times: int = 15) -> float:
    taken = []
    for i in range(times):
        started = time.perf_counter()
        work(i)
        taken.append(time.perf_counter() - started)
    return round(1e3 * statistics.median(taken), 1)


def measured(memory: VectorMemory, held: int, size: int) -> Iterator[tuple[str, float, str]]:
    """Grow the memory from `held` to `size` and ask it."""
    started = time.perf_counter()
    for first in range(held, size, 5_000):
        memory.add_all(items(first, min(5_000, size - first)))
    yield f"{size:,}: add in bulk", round((size - held) / (time.perf_counter() - started)), "rows/s"
    yield f"{size:,}: add one", median_ms(lambda i: memory.add_all(items(i, 1))), "ms"
    queries = [text for _, text, _ in items(10**7, 15)]
    yield f"{size:,}: nearest 10, as written", median_ms(lambda i: memory.nearest(queries[i], 10)), "ms"
    exact = [{r.env_id for r in memory.nearest(q, 10)} for q in queries]
    started = time.perf_counter()
    memory.optimise()
    yield f"{size:,}: optimise", round(time.perf_counter() - started, 1), "s"
    yield f"{size:,}: nearest 10", median_ms(lambda i: memory.nearest(queries[i], 10)), "ms"
    found = [{r.env_id for r in memory.nearest(q, 10)} for q in queries]
    shared = [len(a & b) / 10 for a, b in zip(exact, found, strict=True)]
    yield f"{size:,}: share of the 10 nearest found", round(statistics.mean(shared), 3), ""
    yield f"{size:,}: all of one skill, in short", median_ms(lambda i: memory.of_skill(GAME_SKILLS[i % 6]), 5), "ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--embedder", choices=("hashed", "minilm"), default="hashed")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    given = parser.parse_args()
    rows: list[Row] = []
    if not given.json:
        print(f"{machine()}, embedder {given.embedder}", flush=True)
    with tempfile.TemporaryDirectory(prefix="spade-memory-") as folder:
        memory, held = VectorMemory(Path(folder), open_embedder(given.embedder)), 0
        for size in given.sizes[:1] if given.quick else given.sizes:
            for name, value, unit in measured(memory, held, size):
                rows.append(Row(name, value, unit, NEAREST_MS if name.endswith("nearest 10") else None))
                if not given.json:
                    print(rows[-1].line(), flush=True)
            held = size
    if given.json:
        print(as_json(rows, machine=machine(), embedder=given.embedder))


if __name__ == "__main__":
    main()
