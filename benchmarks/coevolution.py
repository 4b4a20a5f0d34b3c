"""Does a designer that learns with the agent beat a fixed pool? A small transformer from nothing plays both roles.

    python benchmarks/coevolution.py [--arms ours,fixed] [--seeds 31,32] [--budget 40000] [--minutes 8] [--home FOLDER]
    python benchmarks/coevolution.py --report [--home FOLDER]         what is there so far, as tables
    python benchmarks/coevolution.py --quick                          under a minute: only shows that it runs

Designer, gates, sandbox, play loop, engine and update are the factory's own; environments are blueprints of three
mechanics. Every arm of a seed begins with the same weights and has the same number of plays, hinted ones counted. All
are evaluated on cells that no designer may choose. Stopped after `--minutes`, the same command goes on where every run
was. `docs/coevolution.md` says what was fixed before and what came out.
"""

import argparse
import asyncio
import fcntl
import json
import multiprocessing
import os
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.coevolve.arms import SETUPS
from benchmarks.coevolve.reporting import print_report, rows_of
from benchmarks.coevolve.state import Plan

HOME = Path("var/coevolution")


def prepared(home: Path, seeds: list[int], plays: int | None = None) -> None:
    """Plays of an even player, the gates' word on every cell, and each seed's warm start: made once."""
    from benchmarks.coevolve import warm

    if plays is not None:
        warm.PLAYS, warm.SHOWN, warm.EPOCHS = plays, 200, 1
    home.mkdir(parents=True, exist_ok=True)
    stored = home / "even.pickle"
    with open(home / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            episodes = asyncio.run(warm.gathered(home))
            part = stored.with_suffix(".part")
            part.write_bytes(pickle.dumps(episodes))
            part.replace(stored)
    for seed in seeds:
        start = home / f"start-{seed}"
        with open(home / f".lock-{seed}", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (start / "tokenizer.json").exists():
                # Our own file, written above: plays of our own policies, nothing a model wrote.
                warm.warm_start(start, pickle.loads(stored.read_bytes()), seed, warm.Shape())


def work(
    wanted: list[tuple[str, int]], plan: Plan, home: Path, until: float, plays: int | None, changed: dict[str, Any]
) -> None:
    """One process: take one unfinished run after another until the time is up."""
    import torch
    import transformers

    from benchmarks.coevolve.run import Run, play_run

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    for arm, seed in wanted:
        folder = home / f"{arm}-{seed}-{plan.budget}"
        folder.mkdir(parents=True, exist_ok=True)
        if time.monotonic() > until - 20 or _done(folder):
            continue
        with open(folder / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            prepared(home, [seed], plays)
            gates = json.loads((home / "gates.json").read_text("utf-8"))
            run = Run(replace(SETUPS[arm], **changed), seed, plan, folder, home / f"start-{seed}", gates)
            play_run(run, until - time.monotonic())


def _done(folder: Path) -> bool:
    result = folder / "result.json"
    return result.exists() and bool(json.loads(result.read_text("utf-8"))["done"])


def results(home: Path, budget: int) -> list[dict[str, Any]]:
    """Every run of this budget so far."""
    found = sorted(home.glob(f"*-{budget}/result.json"))
    return [json.loads(path.read_text("utf-8")) for path in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", default="ours,fixed,oracle", help=f"of {', '.join(SETUPS)}")
    parser.add_argument("--seeds", default="31,32,33,34,35")
    parser.add_argument("--budget", type=int, default=40000, help="plays of the model a run, hinted ones counted")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--home", type=Path, default=HOME)
    parser.add_argument("--set", default="", help="settings of every arm, such as agent_rate=1e-3; for tuning")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.home, args.budget, args.seeds, args.arms, args.processes = args.home / "quick", 480, "1", "ours,fixed", 1
    plan = Plan(args.budget) if not args.quick else Plan(args.budget, 8, 60, 120)
    if not args.report:
        wanted = [(arm, int(seed)) for seed in args.seeds.split(",") for arm in args.arms.split(",")]
        unknown = {arm for arm, _ in wanted} - set(SETUPS)
        if unknown:
            raise SystemExit(f"There is no arm {', '.join(sorted(unknown))}; there are {', '.join(SETUPS)}.")
        run_all(args, wanted, plan)
    found = results(args.home, args.budget)
    if args.json:
        print(json.dumps({"rows": rows_of(found)}))
    else:
        print(f"{os.cpu_count()} processors, one thread a run; budget {args.budget} plays\n")
        print_report(found)


def run_all(args: argparse.Namespace, wanted: list[tuple[str, int]], plan: Plan) -> None:
    changed = {name: json.loads(value) for name, value in (p.split("=") for p in args.set.split(",") if p)}
    until, plays = time.monotonic() + 60 * args.minutes, 600 if args.quick else None
    prepared(args.home, [], plays)
    if args.processes == 1:
        work(wanted, plan, args.home, until, plays, changed)
        return
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=work, args=(wanted, plan, args.home, until, plays, changed))
        for _ in range(args.processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
