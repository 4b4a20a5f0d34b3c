"""What a real model's programs are worth: which run, which keep the contract, which their own solution wins.

    python benchmarks/designing.py [--model path:FILE | --base-url URL --name NAME] [--setting games] [--slots 4]
        [--retries 5] [--minutes 7] [--context 6144] [--quick] [--json]
    python benchmarks/designing.py --home VAR

Code mode as the factory runs it: its prompts, its gates, its rule of what the next attempt is told. Every attempt is
judged by all gates; what is accepted is judged once more from scratch. After `--minutes` what is there is reported.
With `--home` the model is not asked: what an earlier run stored is judged.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from data.catalog import Catalog
from data.corpus import open_corpus
from flows.configuring import load_settings
from inference.opening import open_model
from sandbox.opening import open_sandbox
from spade.attempts import Attempt
from spade.designing import Brief, Draft, rejection_of
from spade.feedback import worth_telling
from spade.gates import judge
from spade.messages import Request, Role
from spade.ports import Limits, Model, Sandbox
from spade.prompting import CodeDesigner
from spade.settings import FactorySettings, ModelSettings
from spade.skills import Setting
from spade.slots import Cycle, Slot, plan_slots
from spade.verdicts import Verdict, first_failure

TARGETS = {"executable": 0.849, "well-posed": 0.97, "verifiable": 0.90}
"""The paper's figures for models of 4 to 30 billion parameters; well-posed and verifiable are of those that run."""


@dataclass(slots=True)
class Bench:
    settings: FactorySettings
    model: Model | None
    sandbox: Sandbox
    retries: int
    designer: CodeDesigner = field(default_factory=CodeDesigner)
    tried: dict[str, list[Attempt]] = field(default_factory=dict)
    again: list[bool] = field(default_factory=list)
    """Whether each accepted program passed when it was judged once more."""


async def design(bench: Bench, slot: Slot, document: Any) -> None:
    """The attempts of one slot, as the factory makes them."""
    assert bench.model is not None
    attempts = bench.tried.setdefault(slot.slot_id, [])
    last = Draft()
    while len(attempts) <= bench.retries:
        rejected = rejection_of(attempts[-1], last) if attempts and worth_telling(attempts) else None
        prompt = bench.designer.prompt(Brief(slot, document, rejected=rejected))
        sampling = bench.settings.designer.sampling.record(seed=(slot.seed + len(attempts)) % 2**31)
        completion = await bench.model.complete(Request(prompt.messages, sampling, Role.DESIGNER))
        last = bench.designer.read(completion.text, slot)
        verdicts = await judged(bench, last)
        failed = first_failure(verdicts)
        env_id = last.environment.env_id if last.environment else ""
        gate = failed.gate if failed else ""
        attempts.append(
            Attempt(slot.slot_id, len(attempts), prompt.prompt_id, completion, sampling, env_id, (), verdicts, gate)
        )
        print(f"slot {slot.index} attempt {len(attempts)}: {gate or 'accepted'}", file=sys.stderr, flush=True)
        if not gate:
            bench.again.append(first_failure(await judged(bench, last)) is None)
            return


async def judged(bench: Bench, draft: Draft) -> tuple[Verdict, ...]:
    if draft.environment is None:
        return (draft.problem,) if draft.problem else ()
    code, setting = draft.environment.code, draft.environment.setting
    return await judge(code, setting, bench.sandbox, Limits(), bench.settings.gates, full=True)


def reached(attempt: Attempt) -> set[str]:
    """`executable`: it loads and resets. `well-posed`: every gate of form and run passes. `verifiable`: its own
    solution earns the whole reward. `accepted`: every gate passes."""
    passed = {v.gate for v in attempt.verdicts if v.passed}
    failed = {v.gate for v in attempt.verdicts if not v.passed}
    found = set()
    if "runtime.startup" in passed:
        found.add("executable")
        if not any(gate.startswith(("form.", "runtime.")) for gate in failed):
            found.add("well-posed")
        if "semantic.oracle_max" in passed:
            found.add("verifiable")
    return found | ({"accepted"} if attempt.verdicts and not failed else set())


def rows(bench: Bench) -> Iterator[dict[str, Any]]:
    slots = [attempts for attempts in bench.tried.values() if attempts]
    first = [reached(attempts[0]) for attempts in slots]
    best = [set[str]().union(*map(reached, attempts)) for attempts in slots]
    for when, found in (("first try", first), ("after retries", best)):
        ran = sum("executable" in f for f in found)
        yield row(f"executable, {when}", ran, len(found), TARGETS["executable"] if when == "first try" else 1.0)
        for name in ("well-posed", "verifiable"):
            yield row(f"{name} of those that run, {when}", sum(name in f for f in found), ran, TARGETS[name])
        yield row(f"accepted, {when}", sum("accepted" in f for f in found), len(found), None)
    yield row("accepted ones that pass a second run of all gates", sum(bench.again), len(bench.again), 1.0)


def row(name: str, count: int, of: int, target: float | None) -> dict[str, Any]:
    value = round(count / of, 3) if of else None
    ok = None if target is None or value is None else value >= target
    return {"name": name, "value": value, "unit": f"{count} of {of}", "target": target, "ok": ok}


async def stored(given: argparse.Namespace) -> Bench:
    """What the designer of an earlier run wrote, judged afresh by all gates."""
    settings, catalog = load_settings("default"), Catalog(given.home)
    slots = {slot.slot_id: slot for slot in catalog.slots()}
    async with open_sandbox(settings.sandbox) as sandbox:
        bench = Bench(settings, None, sandbox, given.retries)
        for attempt in sorted(catalog.attempts(), key=lambda attempt: attempt.number):
            draft = bench.designer.read(attempt.completion.text, slots[attempt.slot_id])
            verdicts = await judged(bench, draft)
            failed = first_failure(verdicts)
            again = replace(attempt, verdicts=verdicts, rejected_by=failed.gate if failed else "")
            bench.tried.setdefault(attempt.slot_id, []).append(again)
            if failed is None:
                bench.again.append(first_failure(await judged(bench, draft)) is None)
    catalog.close()
    return bench


async def measure(given: argparse.Namespace) -> Bench:
    settings = load_settings("default")
    sampling = settings.designer.sampling.model_copy(update={"max_tokens": given.tokens})
    settings = settings.model_copy(update={"designer": settings.designer.model_copy(update={"sampling": sampling})})
    served = ModelSettings(concurrency=given.concurrency, context=given.context, timeout_seconds=1200.0)
    update = {"base_url": given.base_url, "name": given.name} if given.base_url else {"source": given.model}
    cycle = Cycle("0" * 12, 0, 0)
    documents = open_corpus(settings.corpus).draw(0, 0, given.slots)
    documents = [replace(d, text=" ".join(d.text.split()[: given.words])) for d in documents]
    slots = plan_slots(cycle, Setting(given.setting), [d.document_id for d in documents])
    with tempfile.TemporaryDirectory() as home:
        async with (
            open_sandbox(settings.sandbox) as sandbox,
            open_model(served.model_copy(update=update), Path(home)) as model,
        ):
            bench = Bench(settings, model, sandbox, given.retries, CodeDesigner(plan=not given.no_plan))
            designs = [asyncio.create_task(design(bench, s, d)) for s, d in zip(slots, documents, strict=True)]
            _, late = await asyncio.wait(designs, timeout=60 * given.minutes)
            for task in late:
                task.cancel()
            ended = await asyncio.gather(*designs, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error
    return bench


def table(bench: Bench, found: Sequence[dict[str, Any]]) -> str:
    lines = ["| what | share | count | paper |", "|---|---|---|---|"]
    for each in found:
        share = "–" if each["value"] is None else f"{each['value']:.0%}"
        target = "" if each["target"] is None else f"{each['target']:.1%}"
        lines.append(f"| {each['name']} | {share} | {each['unit']} | {target} |")
    gates = Counter(a.rejected_by or "accepted" for attempts in bench.tried.values() for a in attempts)
    return "\n".join(
        [*lines, "", "Attempts by the gate that stopped them: " + ", ".join(f"{g} {n}" for g, n in gates.most_common())]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="package:smollm2-135m", help="weights for the embedded server")
    parser.add_argument("--base-url", default=None, help="an OpenAI-compatible endpoint instead")
    parser.add_argument("--name", default=None, help="the model's name there")
    parser.add_argument(
        "--home", type=Path, help="judge what the designer of an earlier `spade run` wrote, in this folder"
    )
    parser.add_argument("--setting", default="games", choices=[s.value for s in Setting])
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=1, help="sequences at once; one shares the prompt's cache")
    parser.add_argument("--retries", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument("--context", type=int, default=6144, help="tokens of one sequence on the embedded server")
    parser.add_argument("--tokens", type=int, default=2000, help="new tokens of one reply at most")
    parser.add_argument("--words", type=int, default=150, help="words of a document that the prompt shows")
    parser.add_argument("--no-plan", action="store_true", help="the program alone: small models get lost in thoughts")
    parser.add_argument("--quick", action="store_true", help="one slot, one try")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.quick:
        given.slots, given.retries, given.minutes = 1, 0, 0.5
    bench = asyncio.run(stored(given) if given.home else measure(given))
    found = list(rows(bench))
    replies = [a.completion.text for attempts in bench.tried.values() for a in attempts]
    print(json.dumps({"rows": found, "replies": replies}, indent=2) if given.json else table(bench, found))


if __name__ == "__main__":
    main()
