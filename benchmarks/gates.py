"""Recall of the gates per kind of defect, false rejects over good programs, programs a second, beside OpenEnv's checks.

    python benchmarks/gates.py [--quick] [--json] [--reasoning-gym ITEMS.jsonl] [--openenv PYTHON]

The defect set is `tests/defects`; good programs are the starter library, the prompt's skeleton, drawn blueprints, and
quizzes of three questions made of reasoning-gym's datasets (`benchmarks/reasoning_gym_items.py` writes the file).
PYTHON is that of an environment with the package `openenv` (benchmarks/build_openenv.sh makes one).
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.gates_programs import defects, good_programs, medium_programs
from benchmarks.gates_speed import form_rate, full_reports, many, rate, verdict_on
from benchmarks.openenv_packages import packages
from flows.configuring import load_settings
from sandbox.opening import open_sandbox
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings, SandboxSettings
from tests.defects import Defect

CHANCE = ("semantic.floor_gap", "semantic.canary_floor")
Row = dict[str, Any]


async def recall(sandbox: Sandbox, broken: Sequence[Defect]) -> dict[str, Any]:
    """Per kind how many programs were stopped, how many by the gate meant; and how many programs a second."""
    began = time.perf_counter()
    stopped = await many([lambda d=d: verdict_on(d.code, sandbox) for d in broken])  # type: ignore[misc]
    rate = len(broken) / (time.perf_counter() - began)
    kinds: dict[str, Counter[str]] = {}
    for defect, (gate, _) in zip(broken, stopped, strict=True):
        counts = kinds.setdefault(defect.kind, Counter())
        counts.update({"programs": 1, "stopped": bool(gate), "by_the_gate_meant": gate == defect.gate})
    return {"rate": rate, "kinds": {kind: dict(counts) for kind, counts in kinds.items()}}


async def false_rejects(sandbox: Sandbox, programs: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """Per set: how many good programs were judged, which were refused, and which passed once and not again.

    Blueprints are judged by the profile they are made for. Drawn at random, some of them are too easy by their knobs:
    what is refused because chance wins is counted apart. What was accepted is judged once more, from scratch.
    """
    found: dict[str, Any] = {}
    for name, entries in programs.items():
        gates = load_settings("starter").gates if name == "blueprints" else GateSettings()
        jobs = [lambda c=c, g=gates: verdict_on(c, sandbox, Limits(), g) for _, c in entries]  # type: ignore[misc]
        verdicts = await many(jobs)
        refused = {title: f"{gate}: {why}" for (title, _), (gate, why) in zip(entries, verdicts, strict=True) if gate}
        easy = {t for t, why in refused.items() if name == "blueprints" and why.startswith(CHANCE)}
        wrong = {title: why for title, why in refused.items() if title not in easy}
        again = await many([job for job, (gate, _) in zip(jobs, verdicts, strict=True) if not gate])
        unsure = sum(bool(gate) for gate, _ in again)
        found[name] = {"programs": len(entries), "won_by_chance": len(easy), "refused": wrong, "unsure": unsure}
    return found


def peer(python: Path, broken: Sequence[Defect]) -> dict[str, list[str]]:
    """Which of OpenEnv's checks failed for the first program of each kind, served as a package."""
    programs: dict[str, str] = {}
    for defect in broken:
        programs.setdefault(defect.kind, defect.code)
    with tempfile.TemporaryDirectory() as place:
        folder = packages(Path(place) / "packages", programs)
        command = [str(python), str(ROOT / "benchmarks" / "openenv_findings.py"), str(folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return {k: found["failed"] for k, found in zip(programs, json.loads(done.stdout).values(), strict=True)}


async def judged(quick: bool, items: Path | None) -> dict[str, Any]:
    async with open_sandbox(SandboxSettings()) as sandbox:
        good = good_programs(items, quick)
        return {
            "recall": await recall(sandbox, defects(quick)),
            "false_rejects": await false_rejects(sandbox, good),
            "full_report_ms": await full_reports(sandbox, [code for _, code in good["library"]]),
            "isolation": sandbox.report().get("level"),
        }


def measure(quick: bool, items: Path | None, python: Path | None) -> dict[str, Any]:
    found = asyncio.run(judged(quick, items))
    seconds, cores = (1.5, 2) if quick else (8.0, 2)
    found["rates"] = {
        "level 0 (form), one process": form_rate(medium_programs(), seconds / 2),
        "two cells a program started, loaded and ended, nothing played, two processes": rate(cores, seconds, 0),
        "levels 0-2 (form and run), two processes": rate(cores, seconds, 2),
        "levels 0-3, one process": rate(1, seconds, 3),
        "levels 0-3, two processes": rate(cores, seconds, 3),
    }
    found["openenv"] = peer(python, defects(quick)[: 6 if quick else None]) if python else {}
    return found


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """What was measured, one figure a row."""
    totals = Counter[str]()
    for counts in found["recall"]["kinds"].values():
        totals.update(counts)
    yield row("defects stopped", 100 * totals["stopped"] / totals["programs"], "%", 100, at_least=True)
    yield row("defects stopped by the gate meant", 100 * totals["by_the_gate_meant"] / totals["programs"], "%", 100)
    for name, entry in found["false_rejects"].items():
        share = 100 * len(entry["refused"]) / (entry["programs"] - entry["won_by_chance"])
        yield row(f"false rejects, {name} ({entry['programs']} programs)", share, "%", 2, at_least=False)
        yield row(f"accepted and refused when judged again, {name}", entry["unsure"], "programs", 0, at_least=False)
    yield row("full report, median", found["full_report_ms"], "ms", 150, at_least=False)
    for name, value in found["rates"].items():
        yield row(name, value, "programs/s", 100 if name == "levels 0-3, two processes" else None)
    yield row("defect set, stopped at the first failure, one process", found["recall"]["rate"], "programs/s", None)
    if found["openenv"]:
        kinds = found["openenv"]
        theirs = sum(map(bool, kinds.values()))
        ours = sum(bool(found["recall"]["kinds"][kind]["stopped"]) for kind in kinds)
        yield row(f"kinds of defect that openenv validate finds, of {len(kinds)}", theirs, "kinds", None)
        yield row("kinds that the gates find for one of openenv's", ours / max(1, theirs), "ratio", None)


def row(name: str, value: float, unit: str, target: float | None, *, at_least: bool = True) -> Row:
    ok = None if target is None else (value >= target if at_least else value <= target)
    return {"name": name, "value": round(value, 1), "unit": unit, "target": target, "ok": ok}


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores of {model}, {system}"


def table(found: dict[str, Any]) -> str:
    lines = [f"{machine()}, {date.today()}, sandbox {found['isolation']}", ""]
    lines += ["| what | value | target | |", "|---|---|---|---|"]
    marks = {None: "", True: "reached", False: "not reached"}
    for each in rows(found):
        target = "" if each["target"] is None else f"{each['target']} {each['unit']}"
        lines.append(f"| {each['name']} | {each['value']:g} {each['unit']} | {target} | {marks[each['ok']]} |")
    lines += [
        "",
        "| kind of defect | programs | stopped | by the gate meant | openenv validate |",
        "|---|---|---|---|---|",
    ]
    for kind, c in found["recall"]["kinds"].items():
        theirs = ", ".join(found["openenv"].get(kind, ["-"])) or "passes"
        lines.append(f"| {kind} | {c['programs']} | {c['stopped']} | {c['by_the_gate_meant']} | {theirs} |")
    refused = [(n, t, why) for n, e in found["false_rejects"].items() for t, why in e["refused"].items()]
    lines += ["", *(f"- refused of {name}: {title}: {why}" for name, title, why in refused)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one program a kind, fewer good ones, short measurements")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--reasoning-gym", type=Path, default=None, metavar="ITEMS")
    parser.add_argument("--openenv", type=Path, default=None, metavar="PYTHON")
    arguments = parser.parse_args()
    found = measure(arguments.quick, arguments.reasoning_gym, arguments.openenv)
    print(json.dumps({"rows": list(rows(found)), **found}, indent=2) if arguments.json else table(found))


if __name__ == "__main__":
    main()
