"""One run: an arm and a seed, cycle after cycle, kept so that it can be stopped and goes on."""

import asyncio
import json
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.coevolve.arms import ENVIRONMENTS, PLAYS, Setup
from benchmarks.coevolve.designing import Design, Oracle, by_model, distinct, fixed_pool
from benchmarks.coevolve.playing import DRAW, Gatekeeper, Wanted, evaluate, play_all
from benchmarks.coevolve.sharing import Programs
from benchmarks.coevolve.state import Plan, State, point_of, progress, window_of
from benchmarks.coevolve.world import SKILLS, Told, evaluation_items, read_design
from inference.in_process.engine import Size, TorchEngine
from spade.episodes import Arm, Episode
from spade.frontier import Measured, Trackers, frontier_rewards
from spade.identity import rng_for
from spade.ports import Sandbox
from spade.replay import Known, replayed
from spade.scores import score
from training.averaging import served_state
from training.batches import Designed, agent_part, designer_part, make_batch
from training.checkpoints import Checkpoints, restore
from training.learner import Learner
from training.policy import open_policy
from training.samples import Limits

SAVE_EVERY = 10


@dataclass(eq=False)
class Run:
    """`folder` holds the run's checkpoints and its result; `start` the warm start it begins from."""

    setup: Setup
    seed: int
    plan: Plan
    folder: Path
    start: Path
    gates: dict[str, str]
    state: State = field(default_factory=State)

    def __post_init__(self) -> None:
        per_cycle = ENVIRONMENTS * (PLAYS * self.setup.rounds + self.setup.hinted)
        self.cycles = -(-self.plan.budget // per_cycle)
        settings = self.setup.training(self.cycles)
        self.learner = Learner(open_policy(self.start, settings), settings, self.seed)
        copies = open_policy(self.start, settings)
        models = {part: scorer.model for part, scorer in copies.parts.items()}
        self.engine = TorchEngine(
            models, copies.tokenizer, name="scratch", weights="start", size=Size(batch=256, recalled=150_000)
        )
        self.store = Checkpoints(self.folder / "checkpoints", base=self.start.name, keep=1)
        self.pool = fixed_pool(self.setup.pool, self.seed) if self.setup.designer == "pool" else []
        self.oracle = Oracle()
        self._resume()

    def _resume(self) -> None:
        last = self.store.latest()
        if last is not None:
            restore(self.learner, last)
            self.state = State(**last.state)
            self._serve()
        for text, (wins, plays) in self.state.oracle.items():
            self.oracle.counts[read_design(f"{text} {_any_plan(text)}")[0]] = (wins, plays)

    @property
    def done(self) -> bool:
        return self.state.plain + self.state.hinted >= self.plan.budget

    async def go(self, sandbox: Sandbox, until: float) -> None:
        """Cycles until the run is over or `until` (monotonic seconds) has come; progress is saved either way."""
        self.programs = Programs(sandbox, 200)
        self.keeper = Gatekeeper(sandbox, self.gates)
        if not self.state.curve:
            await self._evaluate_start()
        while not self.done and time.monotonic() < until:
            before = time.process_time()
            await self._cycle()
            self.state.cpu_seconds += time.process_time() - before
            if self.done or self.state.cycle % self.plan.curve_every == 0:
                await self._evaluate(self.plan.final_items if self.done else self.plan.curve_items)
            if self.done or self.state.cycle % SAVE_EVERY == 0:
                self._save()
        self._save()
        await self.programs.close()

    async def _cycle(self) -> None:
        state, setup = self.state, self.setup
        chosen = await self._designs()
        episodes: dict[Design, list[Episode]] = defaultdict(list)
        name = f"cycle-{state.cycle}"
        for round_ in range(setup.rounds):
            plain = [Wanted(d.cell, d.cell.environment(d.plan), PLAYS) for d in chosen]
            hinted = [
                Wanted(d.cell, d.cell.environment(d.plan), setup.hinted, Arm.HINTED, d.cell.hint(d.plan))
                for d in chosen
                if setup.hinted and round_ == 0
            ]
            played = await play_all(self.engine, self.programs, [*plain, *hinted], name, self.seed, round_)
            state.plain += len(plain) * PLAYS
            state.hinted += len(hinted) * setup.hinted
            for design, group in zip([*chosen, *(chosen if hinted else [])], played, strict=True):
                episodes[design] += group
            fresh = [e for group in played[: len(plain)] for e in group]
            last = round_ == setup.rounds - 1
            self._update(fresh, self._scored(chosen, episodes) if last else [])
        state.cycle += 1

    async def _designs(self) -> list[Design]:
        """New designs and remembered environments, without what the gates refuse."""
        state, setup = self.state, self.setup
        rng = rng_for(self.seed, "cycle", state.cycle)
        again = self._replays(rng)
        count = ENVIRONMENTS - len(again)
        if setup.designer == "pool":
            new = distinct(rng.sample(self.pool, len(self.pool)))[:count]
        elif setup.designer == "oracle":
            new = self.oracle.draw(count, rng)
        else:
            memory = self._memory() if setup.memory else {}
            lately = set(state.designs[-setup.apart * count :]) if setup.apart else set()
            new = await by_model(self.engine, count, memory, self.seed, state.cycle, lately)
        kept = []
        for design in new:
            if await self.keeper.refusal(design.cell.environment(design.plan)):
                state.refused += 1
            else:
                kept.append(design)
        state.designs = [*state.designs, *(d.cell.text for d in kept)][-200:]
        return [*kept, *again]

    def _replays(self, rng: Any) -> list[Design]:
        setup = self.setup
        if not setup.in_band + setup.mastered:
            return []
        known = [Known(text, rate, cycle) for text, (rate, cycle, _, _) in self.state.known.items()]
        band, easy = (round(ENVIRONMENTS * share) for share in (setup.in_band, setup.mastered))
        made = []
        for text in replayed(known, in_band=band, mastered=easy, now=self.state.cycle, rng=rng):
            _, _, plan, skill = self.state.known[text]
            made.append(
                Design(read_design(f"{text} {plan}")[0], plan, next(s for s in SKILLS if s == skill), None, True)
            )
        return made

    def _memory(self) -> dict[str, list[Told]]:
        found: dict[str, list[Told]] = defaultdict(list)
        for text, (rate, _, _, skill) in list(self.state.known.items())[-150:]:
            found[skill].append(Told(text, rate))
        return found

    def _scored(self, chosen: list[Design], episodes: dict[Design, list[Episode]]) -> list[Designed]:
        """What each design was worth; remembers it and notes the window's figures."""
        state, setup = self.state, self.setup
        scores = [score("c", "e", episodes[d], setup.score) for d in chosen]
        measured = [
            Measured(
                d.cell.family,
                s.plain.wins,
                s.plain.measured,
                s.plain.mean_return or 0.0,
                s.designer_reward,
            )
            for d, s in zip(chosen, scores, strict=True)
        ]
        trackers = Trackers({k: (v[0], v[1]) for k, v in state.counts.items()}, dict(state.slow))
        rewards, moved = frontier_rewards(measured, setup.frontier, trackers)
        state.counts, state.slow = {k: list(v) for k, v in moved.counts.items()}, moved.slow
        rates = [s.plain.win_rate or 0.0 for s in scores]
        for design, rate, one in zip(chosen, rates, measured, strict=True):
            state.known.pop(design.cell.text, None)
            state.known[design.cell.text] = [rate, state.cycle, design.plan, design.skill.value]
            self.oracle.saw(design.cell, one.wins, one.plays)
        self.oracle.fade()
        regrets = [s.regret for s in scores if s.regret is not None]
        state.windows.append(window_of(chosen, rates, rewards, regrets, state))
        return [
            Designed(d.attempt, d.skill, f"cycle-{state.cycle}", reward)
            for d, reward in zip(chosen, rewards, strict=True)
            if d.attempt is not None
        ]

    def _update(self, episodes: list[Episode], designed: list[Designed]) -> None:
        limits = Limits(self.learner.policy.vocabulary, 2048)
        agent = agent_part(episodes, DRAW, limits)
        rounds = self.setup.rounds
        designer = designer_part(designed, limits, agent_samples=len(episodes), rounds=rounds) if designed else None
        batch = make_batch(agent, designer)
        if not batch.samples:
            return
        report = self.learner.update(batch)
        self.state.gradient_tokens += sum(figures.tokens for figures in report.roles.values())
        self.state.update = {role: asdict(figures) for role, figures in report.roles.items()}
        self._serve()

    def _serve(self) -> None:
        states = {part: served_state(self.learner, part) for part in self.learner.policy.parts}
        self.engine.swap(states, f"update-{self.learner.updates}")

    async def _evaluate_start(self) -> None:
        """All arms of a seed begin alike, so the first evaluation is made once."""
        stored = self.start / f"evaluation-{self.plan.final_items}.json"
        if not stored.exists():
            await self._evaluate(self.plan.final_items)
            stored.write_text(json.dumps(self.state.curve[0]), "utf-8")
        self.state.curve = [json.loads(stored.read_text("utf-8"))]

    async def _evaluate(self, items: int) -> None:
        wanted = evaluation_items(items)
        episodes = await evaluate(self.engine, self.programs, wanted)
        point = point_of(wanted, episodes, self.state.plain + self.state.hinted)
        self.state.curve.append(point)
        print(
            f"{self.setup.name} s{self.seed} cycle {self.state.cycle}/{self.cycles} {progress(self.state)}", flush=True
        )

    def _save(self) -> None:
        self.state.oracle = {c.text: [w, p] for c, (w, p) in self.oracle.counts.items() if p > 0.01}
        last = self.store.latest()
        if last is not None and last.record.update == self.learner.updates and last.state["curve"] == self.state.curve:
            return
        parent = last.record.checkpoint_id if last else ""
        self.store.save(self.learner, batch_id="", parent=parent, state=asdict(self.state))
        result = {"arm": self.setup.name, "seed": self.seed, "done": self.done, **asdict(self.state)}
        part = self.folder / "result.json.part"
        part.write_text(json.dumps(result))
        part.replace(self.folder / "result.json")


def _any_plan(text: str) -> str:
    from spade.blueprints import MECHANICS

    return next(iter(MECHANICS[text.split()[0]].plans))


def play_run(run: Run, seconds: float) -> bool:
    """Go on with a run for at most `seconds`; whether it is over."""
    from sandbox.opening import open_sandbox
    from spade.settings import SandboxSettings

    async def inside() -> None:
        async with open_sandbox(SandboxSettings()) as sandbox:
            await run.go(sandbox, time.monotonic() + seconds)

    asyncio.run(inside())
    return run.done
