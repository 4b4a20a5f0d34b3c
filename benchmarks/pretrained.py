"""A pretrained model learns: return of SmolLM2-135M on held-out seeds before and after, with intervals, on a processor.

    python benchmarks/pretrained.py --model FOLDER [--home FOLDER] [--minutes 8] [--cycles 6] [--quick] [--json]

FOLDER is a transformers folder (scripts/gguf_to_transformers.py makes one of the packaged model). The model plays
blueprint environments through the factory's play loop, engine and sandbox, actions decoded under the environments'
guides; each cycle is 32 plays and one update of a low-rank adapter. Before and after, it plays the same instances,
whose seeds no training play has; the interval is a paired bootstrap over them. Stopped after `--minutes`, the same
command goes on from the last checkpoint; time is counted over all calls.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.coevolve.playing import DRAW, Wanted, evaluate, play_all
from benchmarks.coevolve.sharing import Programs
from benchmarks.coevolve.world import Cell
from sandbox.opening import open_sandbox
from spade.identity import rng_for
from spade.scores import bootstrap
from spade.settings import SandboxSettings
from spade.training_settings import LoraSettings, RoleTraining, TrainingSettings

CELLS = (
    Cell("grid_walk", (3, 2, 0, 4, "anywhere", "yes")),
    Cell("grid_walk", (4, 2, 0, 4, "anywhere", "yes")),
    Cell("reach_target", ("step", 3, 2, 3)),
    Cell("guess_number", (5, 2, 2, "even")),
)
SETTINGS = TrainingSettings(
    agent=RoleTraining(learning_rate=1e-3, minibatches=2, entropy=0.003),
    lora=LoraSettings(rank=16, alpha=32),
    weight_decay=0.0,
    micro_tokens=3072,
    keep=1,
)
PLAYS = 8


@dataclass
class State:
    cycle: int = 0
    seconds: float = 0.0
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)


@dataclass(eq=False)
class Run:
    """Model, engine and checkpoints of one run."""

    model: Path
    home: Path
    cycles: int
    items: int

    def __post_init__(self) -> None:
        from inference.in_process.engine import Size, TorchEngine
        from training.checkpoints import Checkpoints, resumed
        from training.policy import open_policy

        self.store = Checkpoints(self.home / "checkpoints", base=self.model.name, keep=1)
        last = self.store.latest()
        self.learner = resumed(last, self.model, SETTINGS, 0)
        self.state = State(**last.state) if last else State()
        played = open_policy(self.model, SETTINGS.model_copy(update={"lora": None}))
        played.parts["agent"].model.config.use_cache = True
        models = {"agent": played.parts["agent"].model}
        self.engine = TorchEngine(
            models, played.tokenizer, name=self.model.name, weights="start", size=Size(batch=32, recalled=40_000)
        )
        self._serve()

    @property
    def done(self) -> bool:
        return bool(self.state.after)

    def _serve(self) -> None:
        from training.averaging import served_state

        self.engine.swap({"agent": served_state(self.learner, "agent")}, f"update-{self.learner.updates}")

    def _instances(self) -> list[tuple[Cell, int]]:
        rng = rng_for(99, "held out")
        return [(CELLS[n % len(CELLS)], 2**31 + rng.randrange(2**30)) for n in range(self.items)]

    async def go(self, until: float) -> None:
        async with open_sandbox(SandboxSettings()) as sandbox:
            programs = Programs(sandbox)
            while not self.done and time.monotonic() < until:
                started = time.monotonic()
                await self._next(programs)
                self.state.seconds += time.monotonic() - started
                self.store.save(self.learner, batch_id=f"{time.time_ns()}", parent="", state=asdict(self.state))
            await programs.close()

    async def _next(self, programs: Programs) -> None:
        """One evaluation or one cycle, whichever is due."""
        if not self.state.before or self.state.cycle >= self.cycles:
            episodes = await evaluate(self.engine, programs, self._instances())
            returns = [e.return_ or 0.0 for e in episodes]
            which = self.state.after if self.state.before else self.state.before
            which += returns
            print(f"  {'after' if self.state.after else 'before'}: mean return {fmean(returns):.3f}", flush=True)
            return
        await self._cycle(programs)

    async def _cycle(self, programs: Programs) -> None:
        from training.batches import agent_part, make_batch
        from training.samples import Limits

        wanted = [Wanted(cell, cell.environment(), PLAYS) for cell in CELLS]
        started = time.monotonic()
        groups = await play_all(self.engine, programs, wanted, f"cycle-{self.state.cycle}", 0)
        played = time.monotonic() - started
        episodes = [e for group in groups for e in group]
        batch = make_batch(agent_part(episodes, DRAW, Limits(self.learner.policy.vocabulary, 4096)))
        report = self.learner.update(batch)
        self._serve()
        self.state.cycle += 1
        self.state.curve.append(fmean(e.return_ or 0.0 for e in episodes))
        figures = report.roles["agent"]
        print(
            f"  cycle {self.state.cycle}/{self.cycles}: return {self.state.curve[-1]:.3f}, played in {played:.0f} s, "
            f"learned in {report.seconds:.0f} s, ratio {figures.ratio:.4f}, entropy {figures.entropy:.2f}",
            flush=True,
        )


def report(run: Run, as_json: bool) -> None:
    state = run.state
    differences = [b - a for a, b in zip(state.before, state.after, strict=True)]
    between = bootstrap(differences, 0)
    gained, minutes = fmean(differences), state.seconds / 60
    rows: list[tuple[str, float, str, float | None, bool | None]] = [
        ("mean return before", fmean(state.before), "return", None, None),
        ("mean return after", fmean(state.after), "return", None, None),
        ("gain", gained, "return", 0.0, gained > 0),
        ("gain, low end of the 95 % interval", between.low, "return", 0.0, between.low > 0),
        ("gain, high end", between.high, "return", None, None),
        ("minutes, evaluations included", minutes, "min", 60.0, minutes <= 60),
    ]
    if as_json:
        keys = ("name", "value", "unit", "target", "ok")
        print(json.dumps({"rows": [dict(zip(keys, row, strict=True)) for row in rows]}))
        return
    print(f"{os.cpu_count()} processors; {run.items} instances of {len(CELLS)} environments; {run.cycles} cycles\n")
    print("| what | value | unit | aim | reached |\n|---|---|---|---|---|")
    for name, value, unit, target, ok in rows:
        shown = "" if target is None else f"{target:g}"
        print(f"| {name} | {value:.3f} | {unit} | {shown} | {'' if ok is None else 'yes' if ok else 'no'} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--home", type=Path, help="where checkpoints go; a temporary folder when absent")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so long; the same command goes on")
    parser.add_argument("--cycles", type=int, default=6)
    parser.add_argument("--items", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="one cycle, eight instances: only shows that it runs")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(args.threads)
    cycles, items = (1, 8) if args.quick else (args.cycles, args.items)
    with tempfile.TemporaryDirectory() as temporary:
        run = Run(args.model, args.home or Path(temporary), cycles, items)
        asyncio.run(run.go(time.monotonic() + 60 * args.minutes))
        if run.done:
            report(run, args.json)
        else:
            print("Not finished; the same command goes on.", file=sys.stderr)


if __name__ == "__main__":
    main()
