"""Recall of the gates per kind of defect, false rejects over good programs, and how many programs a second they judge.

    python benchmarks/gates.py [--quick] [--json] [--reasoning-gym ITEMS.jsonl]

The defect set is `tests/defects`; good programs are the starter library, the prompt's skeleton, drawn blueprints, and
quizzes of three questions made of reasoning-gym's datasets (`benchmarks/reasoning_gym_items.py` writes the file).
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from flows.configuring import load_settings
from sandbox.opening import open_sandbox
from spade.blueprints import MECHANICS, Blueprint, compile_blueprint
from spade.blueprints.themes import THEMES
from spade.gates import examine
from spade.gates.form import FORM_GATES
from spade.gates.source import read_source, setting_of
from spade.identity import rng_for
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings, SandboxSettings
from spade.skills import Setting
from spade.verdicts import first_failure
from tests.defects import DEFECTS, Defect
from tests.defects.making import LIBRARY, SKELETON

LIMITS = Limits(wall_seconds=1.0, cpu_seconds=10.0)
TOGETHER = 4
CHANCE = ("semantic.floor_gap", "semantic.canary_floor")
QUIZ = '''import random

ITEMS = {items}


class QuizEnv:
    """Three questions in a row from one dataset; a wrong answer ends the game."""

    def __init__(self, max_turns=4):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.chosen = random.Random(seed).sample(ITEMS, 3)
        self.at = 0
        self.turn = 0
        self.done = False
        return "Answer three questions. Write each answer in a box.\\n\\n" + self.chosen[0][0], {{}}

    def solution(self):
        return [answer for _, answer in self.chosen]

    def step(self, action):
        if self.done:
            return "The quiz is over.", 0.0, True, False, {{}}
        self.turn += 1
        if action.strip() != self.chosen[self.at][1]:
            self.done = True
            return "Wrong.", 0.0, True, False, {{}}
        self.at += 1
        self.done = self.at == 3
        reward = 1 / 3
        if self.done:
            return "All three are right.", reward, True, False, {{}}
        return self.chosen[self.at][0], reward, False, False, {{}}
'''


async def many(jobs: Sequence[Callable[[], Awaitable[Any]]], together: int = TOGETHER) -> list[Any]:
    room = asyncio.Semaphore(together)

    async def one(job: Callable[[], Awaitable[Any]]) -> Any:
        async with room:
            return await job()

    return list(await asyncio.gather(*map(one, jobs)))


async def verdict_on(
    code: str, sandbox: Sandbox, limits: Limits = LIMITS, gates: GateSettings | None = None
) -> tuple[str, str]:
    """The gate that stops a program, and its message; two empty texts when none does."""
    judged = await examine(code, setting_of(code), sandbox, limits, gates or GateSettings())
    failure = first_failure(judged.verdicts)
    return (failure.gate, failure.message) if failure else ("", "")


async def recall(sandbox: Sandbox, defects: Sequence[Defect]) -> dict[str, Any]:
    stopped = await many([lambda d=d: verdict_on(d.code, sandbox) for d in defects])  # type: ignore[misc]
    kinds: dict[str, Counter[str]] = {}
    for defect, (gate, _) in zip(defects, stopped, strict=True):
        counts = kinds.setdefault(defect.kind, Counter())
        counts.update({"programs": 1, "stopped": bool(gate), "by_the_gate_meant": gate == defect.gate})
    totals = Counter[str]()
    for counts in kinds.values():
        totals.update(counts)
    return {"total": dict(totals), "kinds": {kind: dict(counts) for kind, counts in kinds.items()}}


async def false_rejects(sandbox: Sandbox, programs: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """Per set: how many good programs were judged, and which were refused.

    Blueprints are judged by the profile they are made for. Drawn at random, some of them are too easy by their knobs:
    what is refused because chance wins is counted apart.
    """
    found: dict[str, Any] = {}
    for name, entries in programs.items():
        gates = load_settings("starter").gates if name == "blueprints" else GateSettings()
        jobs = [lambda c=c, g=gates: verdict_on(c, sandbox, Limits(), g) for _, c in entries]  # type: ignore[misc]
        verdicts = await many(jobs)
        refused = {title: f"{gate}: {why}" for (title, _), (gate, why) in zip(entries, verdicts, strict=True) if gate}
        easy = {t for t, why in refused.items() if name == "blueprints" and why.startswith(CHANCE)}
        wrong = {title: why for title, why in refused.items() if title not in easy}
        found[name] = {"programs": len(entries), "won_by_chance": len(easy), "refused": wrong}
    return found


def good_programs(items: Path | None, quick: bool) -> dict[str, list[tuple[str, str]]]:
    library = [(path.stem, path.read_text()) for path in [SKELETON, *sorted(LIBRARY.rglob("*.py"))]]
    programs = {"library": library, "blueprints": blueprints(12 if quick else 66)}
    if items is not None:
        lines = [json.loads(line) for line in items.read_text().splitlines()][: 10 if quick else None]
        programs["reasoning-gym"] = [(entry["dataset"], QUIZ.format(items=repr(entry["items"]))) for entry in lines]
    return programs


def blueprints(count: int) -> list[tuple[str, str]]:
    """Blueprints drawn evenly over mechanics and knobs, compiled."""
    programs = []
    for number in range(count):
        rng = rng_for(number, "benchmark blueprints")
        mechanic = list(MECHANICS.values())[number % len(MECHANICS)]
        knobs = tuple((knob.name, rng.choice(list(knob.values))) for knob in mechanic.knobs)
        theme, plan = rng.choice(list(THEMES)), rng.choice(list(mechanic.plans))
        blueprint = Blueprint(mechanic.name, knobs, theme, "The Quiet Place", "Something is hidden here.", plan)
        environment = compile_blueprint(blueprint, mechanic.setting, mechanic.skills[0])
        programs.append((f"{mechanic.name} {dict(knobs)}", environment.code))
    return programs


async def speed(sandbox: Sandbox, codes: Sequence[str], seconds: float) -> dict[str, float]:
    """Programs a second through the form gates, to the end of all gates, and milliseconds of one full report alone."""
    started = time.perf_counter()
    rounds = 0
    while time.perf_counter() - started < seconds / 4:
        for code in codes:
            source = read_source(code)
            for gate in FORM_GATES:
                gate(source, Setting.GAMES, GateSettings())
        rounds += 1
    form = rounds * len(codes) / (time.perf_counter() - started)
    alone = []
    for code in codes:
        began = time.perf_counter()
        await examine(code, setting_of(code), sandbox, Limits(), GateSettings(), full=True)
        alone.append(time.perf_counter() - began)
    jobs = [lambda c=c: verdict_on(c, sandbox, Limits()) for c in codes] * 4  # type: ignore[misc]
    await many(jobs[: len(codes)])
    began, judged = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        await many(jobs)
        judged += len(jobs)
    full = judged / (time.perf_counter() - began)
    return {
        "form_programs_per_second": round(form, 1),
        "all_gates_programs_per_second": round(full, 1),
        "full_report_ms_median": round(1000 * median(alone), 1),
    }


async def measure(quick: bool, items: Path | None) -> dict[str, Any]:
    seen: Counter[str] = Counter()
    defects = []
    for defect in DEFECTS:
        seen[defect.kind] += 1
        if not quick or seen[defect.kind] == 1:
            defects.append(defect)
    async with open_sandbox(SandboxSettings()) as sandbox:
        good = good_programs(items, quick)
        codes = [code for _, code in good["library"]]
        return {
            "recall": await recall(sandbox, defects),
            "false_rejects": await false_rejects(sandbox, good),
            "speed": await speed(sandbox, codes, 2.0 if quick else 8.0),
            "isolation": sandbox.report().get("level"),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one program a kind, fewer good ones, short measurements")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--reasoning-gym", type=Path, default=None, metavar="ITEMS")
    arguments = parser.parse_args()
    found = asyncio.run(measure(arguments.quick, arguments.reasoning_gym))
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print(table(found))


def table(found: dict[str, Any]) -> str:
    lines = ["| kind of defect | programs | stopped | by the gate meant |", "|---|---|---|---|"]
    rows = [*found["recall"]["kinds"].items(), ("**all**", found["recall"]["total"])]
    lines += [f"| {kind} | {c['programs']} | {c['stopped']} | {c['by_the_gate_meant']} |" for kind, c in rows]
    lines += ["", "| good programs | judged | won by chance | refused |", "|---|---|---|---|"]
    for name, entry in found["false_rejects"].items():
        refused = "; ".join(f"{title} ({why[:60]})" for title, why in entry["refused"].items()) or "0"
        lines.append(f"| {name} | {entry['programs']} | {entry['won_by_chance']} | {refused} |")
    lines += ["", *(f"- {name}: {value}" for name, value in found["speed"].items())]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
