"""What a small model makes of blueprint mode: acceptance, win rates of both arms, regret and seconds, by mechanic.

    python benchmarks/blueprints.py [--cycles 1] [--plays 8] [--drawn] [--mechanic NAME] [--quick] [--json]

Designs with the embedded model under the `starter` profile, judges with the gates, writes hints, and plays both arms on
paired seeds through the sandbox. With `--drawn` the blueprints are drawn evenly instead of designed, which shows what a
mechanic's knobs reach, whoever chooses them.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.blueprint_report import UNITS, Row, mean_of, printed
from benchmarks.reporting import Row as Figure
from benchmarks.reporting import as_json
from data.corpus import open_corpus
from flows.configuring import load_settings
from inference.opening import open_model
from sandbox.opening import open_sandbox
from spade.blueprints import MECHANICS, Blueprint, BlueprintDesigner, blueprint_text
from spade.blueprints.themes import THEMES
from spade.designing import MAX_ATTEMPTS, Brief, Draft, Rejection
from spade.diversity import structural_hash
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Hinted, ModelPolicy, play
from spade.gates import judge
from spade.identity import rng_for, seed_for
from spade.messages import Request, Role
from spade.ports import Limits, Model, Sandbox
from spade.prompting import agent_system
from spade.scores import score
from spade.settings import FactorySettings
from spade.skills import SKILLS, Setting, Skill
from spade.slots import Cycle, Slot, plan_slots
from spade.verdicts import first_failure


@dataclass(slots=True)
class Bench:
    """What every step needs, and what was counted."""

    settings: FactorySettings
    model: Model
    sandbox: Sandbox
    plays: int
    designer: BlueprintDesigner = field(default_factory=BlueprintDesigner)
    structures: set[str] = field(default_factory=set)
    rejections: Counter[str] = field(default_factory=Counter)
    attempts: list[int] = field(default_factory=list)
    designs: list[str] = field(default_factory=list)
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(16))
    """As many plays as the server has sequences: a play that loses its sequence pays for its whole prompt again."""


async def designed(bench: Bench, slot: Slot, document: Document) -> tuple[Environment, str] | None:
    """The slot's accepted environment and the reply behind it."""
    rejected: Rejection | None = None
    for number in range(MAX_ATTEMPTS):
        brief = Brief(slot, document, rejected=rejected)
        prompt = bench.designer.prompt(brief)
        sampling = bench.settings.designer.sampling.record(seed=(slot.seed + number) % 2**31)
        request = Request(prompt.messages, sampling, Role.DESIGNER, guide=bench.designer.guide(brief))
        reply = (await bench.model.complete(request)).text
        draft = bench.designer.read(reply, slot)
        gate, message = await refused(bench, draft)
        bench.designs.append(reply)
        if not gate and draft.environment is not None:
            bench.attempts.append(number + 1)
            return draft.environment, reply
        bench.rejections[gate] += 1
        rejected = Rejection(gate, message, draft.environment.code if draft.environment else "")
    bench.attempts.append(0)
    return None


async def refused(bench: Bench, draft: Draft) -> tuple[str, str]:
    """The gate that stops a draft and its message; both empty when none does."""
    if draft.environment is None:
        return (draft.problem.gate, draft.problem.message) if draft.problem else ("form.parse", "")
    code = draft.environment.code
    failed = first_failure(await judge(code, draft.environment.setting, bench.sandbox, Limits(), bench.settings.gates))
    if failed is not None:
        return failed.gate, failed.message
    structure = structural_hash(code)
    if structure in bench.structures:
        return "pool.structural", "Only names and texts differ from an environment of this cycle."
    bench.structures.add(structure)
    return "", ""


async def drawn(bench: Bench, slot: Slot, mechanic: str) -> tuple[Environment, str] | None:
    """As `designed`, with blueprints drawn evenly over the knobs of one mechanic."""
    chosen = MECHANICS[mechanic]
    for number in range(MAX_ATTEMPTS):
        rng = rng_for(slot.seed, "drawn", number)
        blueprint = Blueprint(
            mechanic=mechanic,
            knobs=tuple((knob.name, rng.choice(knob.values)) for knob in chosen.knobs),
            theme=rng.choice(list(THEMES)),
            title="The Quiet Place",
            story="Something is hidden here and has to be found.",
            plan=rng.choice(list(chosen.plans)),
        )
        reply = blueprint_text(blueprint)
        draft = bench.designer.read(reply, slot)
        gate, _ = await refused(bench, draft)
        if not gate and draft.environment is not None:
            bench.attempts.append(number + 1)
            return draft.environment, reply
        bench.rejections[gate] += 1
    bench.attempts.append(0)
    return None


async def hinted(bench: Bench, environment: Environment, reply: str) -> str:
    prompt = bench.designer.hint_prompt(environment, reply, None)
    sampling = bench.settings.hint.sampling.record(seed=0)
    guide = bench.designer.hint_guide(environment, reply)
    completion = await bench.model.complete(Request(prompt.messages, sampling, Role.HINT, guide=guide))
    return bench.designer.read_hint(completion.text)


async def played(bench: Bench, environment: Environment, hint: str, arm: Arm, number: int) -> Episode:
    settings = bench.settings
    seed = seed_for(settings.seed, environment.env_id, 0, number)
    policy = ModelPolicy(bench.model, settings.agent.sampling.record(seed=seed), environment.guide)
    asked = Asked("bench", environment.env_id, 0, arm, number, seed)
    player = Hinted(policy, hint) if arm is Arm.HINTED else policy
    async with bench.at_once:
        opened = await bench.sandbox.open(environment.code, Limits())
        if opened.game is None:
            raise SystemExit(f"an accepted program does not open: {opened.reply.detail}")
        try:
            most, setting = settings.cycle.max_turns, environment.setting
            return await play(opened.game, player, asked, agent_system(setting), max_turns=most, setting=setting)
        finally:
            await opened.game.close()


async def chain(bench: Bench, slot: Slot, document: Document, mechanic: str) -> Row | None:
    """Design, hint, play, score: one slot from its document to its row."""
    made = await (drawn(bench, slot, mechanic) if mechanic else designed(bench, slot, document))
    if made is None:
        return None
    environment, reply = made
    attempts = bench.attempts[-1]
    hint = await hinted(bench, environment, reply)
    episodes = await asyncio.gather(
        *(played(bench, environment, hint, arm, n) for arm in Arm for n in range(bench.plays))
    )
    result = score("bench", environment.env_id, episodes)
    chosen = json.loads(reply)
    return Row(
        mechanic=environment.mechanic,
        skill=environment.skill.value,
        title=environment.title,
        knobs={knob.name: chosen[knob.name] for knob in MECHANICS[environment.mechanic].knobs},
        hint=hint,
        attempts=attempts,
        plain=result.plain.win_rate,
        hinted=result.hinted.win_rate,
        regret=result.regret,
        turns=fmean(len(e.turns) for e in episodes),
    )


def slots_of(bench: Bench, arguments: argparse.Namespace) -> list[tuple[Slot, Document, str]]:
    """Slots with their documents, and the mechanic to draw from where none is designed."""
    settings = bench.settings
    corpus = open_corpus(settings.corpus)
    planned: list[tuple[Slot, Document, str]] = []
    for number in range(arguments.cycles):
        documents = corpus.draw(arguments.seed, number, settings.cycle.slots)
        cycle = Cycle("bench", arguments.seed, number)
        slots = plan_slots(cycle, Setting(arguments.setting), [d.document_id for d in documents])
        planned += [(slot, document, "") for slot, document in zip(slots, documents, strict=True)]
    if not arguments.drawn and not arguments.mechanic:
        return planned
    names = arguments.mechanic or [m.name for m in MECHANICS.values() if m.setting == arguments.setting]
    return [
        (_slot_for(slot, names[at % len(names)]), d, names[at % len(names)]) for at, (slot, d, _) in enumerate(planned)
    ]


def _slot_for(slot: Slot, mechanic: str) -> Slot:
    skill: Skill = MECHANICS[mechanic].skills[0]
    return Slot(slot.cycle_id, slot.index, MECHANICS[mechanic].setting, skill, slot.document_id, slot.seed)


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = load_settings(profile="starter")
    with open_sandbox(settings.sandbox) as sandbox:
        async with open_model(settings.model, arguments.home) as model:
            bench = Bench(
                settings, model, sandbox, arguments.plays, at_once=asyncio.Semaphore(settings.model.concurrency)
            )
            planned = slots_of(bench, arguments)
            started = time.perf_counter()
            made = await asyncio.gather(*(chain(bench, *slot) for slot in planned))
            return summary(bench, [r for r in made if r is not None], len(planned), time.perf_counter() - started)


def summary(bench: Bench, rows: list[Row], slots: int, seconds: float) -> dict[str, Any]:
    by_mechanic = {name: [r for r in rows if r.mechanic == name] for name in sorted({r.mechanic for r in rows})}
    return {
        "slots": slots,
        "accepted": len(rows),
        "first_try": sum(a == 1 for a in bench.attempts),
        "rejections": dict(bench.rejections),
        "skills": len({r.skill for r in rows}),
        "in_band": sum(r.plain is not None and 0.2 <= r.plain <= 0.8 for r in rows),
        "regret_above_0": sum(r.regret is not None and r.regret > 0 for r in rows),
        "mean_regret": mean_of([r.regret for r in rows]),
        "seconds": round(seconds, 1),
        "mechanics": {
            name: {
                "environments": len(group),
                "plain": mean_of([r.plain for r in group]),
                "hinted": mean_of([r.hinted for r in group]),
                "turns": round(fmean(r.turns for r in group), 1),
            }
            for name, group in by_mechanic.items()
        },
        "environments": [{name: getattr(r, name) for name in Row.__slots__} for r in rows],
        "designs": bench.designs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=1)
    parser.add_argument("--plays", type=int, default=8, help="plays an arm")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--setting", choices=[s.value for s in SKILLS], default="games")
    parser.add_argument("--drawn", action="store_true", help="draw blueprints evenly instead of designing them")
    parser.add_argument("--mechanic", action="append", help="draw from this mechanic only; repeatable")
    parser.add_argument("--quick", action="store_true", help="two plays an arm")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--home", type=Path, default=Path("var"))
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.plays = 2
    result = asyncio.run(run(arguments))
    if arguments.json:
        print(as_json((Figure(name, result[name], unit) for name, unit in UNITS.items()), **result))
    else:
        printed(result)


if __name__ == "__main__":
    main()
