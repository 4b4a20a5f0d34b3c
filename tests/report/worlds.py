"""Whole cycles of records as a run leaves them, small and made by rule, for the tests of the report."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data.catalog import Catalog
from data.rating import matches_of, rate_cycle
from spade.attempts import Attempt, Prompt
from spade.curation import decide_positives
from spade.curriculum import Curriculum, curriculum
from spade.datasets import Dataset, DatasetRow
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.hints import Hint
from spade.identity import digest, rng_for, seed_for
from spade.messages import Completion, Message, Role, Sampling, Usage
from spade.outcomes import EpisodeOutcome
from spade.scores import score
from spade.skills import Setting
from spade.slots import Cycle, Slot, plan_slots
from spade.summary import CycleRecords, summarise
from spade.verdicts import Status, Verdict

STARTER = Path(__file__).parents[2] / "data" / "corpora" / "starter.jsonl"
MODEL, WEIGHTS = "smollm2-135m-instruct", "smollm2-135m@f16"
PROGRAM = '''"""{title}"""
import random


class GuessEnv:
    """The agent finds a hidden number; each answer halves what is left, when it is used well."""

    def __init__(self, max_turns=6):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self._secret = random.Random(seed).randint(1, {top})
        self._turn = 0
        return "Find the number from 1 to {top}. Answer \\\\boxed{{number}}.", {{}}

    def step(self, action):
        self._turn += 1
        if action == str(self._secret):
            return "Right.", 1.0, True, False, {{}}
        low = action.isdigit() and int(action) < self._secret
        return ("higher" if low else "lower"), 0.0, False, self._turn >= self.max_turns, {{}}

    def solution(self):
        return [str(self._secret)]
'''
REFUSALS = (
    ("structure.class", "The reply defines no class whose name ends in Env. Define exactly one."),
    ("semantic.oracle_max", "solution() reached a return of 0.4 on seed 3; it must reach 1.0 on every seed."),
    ("semantic.floor_gap", "A random player won 9 of 32 plays (0.28); at most 0.15 may be won without thinking."),
    ("runtime.determinism", "Two resets with seed 0 gave different observations. Draw from random.Random(seed) only."),
)
PASSING = ("structure.class", "structure.imports", "runtime.starts", "runtime.determinism", "semantic.oracle_max")


class World:
    """Makes cycles and stores them. `say` turns every text a model would write into what the test wants to see."""

    def __init__(self, catalog: Catalog, *, seed: int = 0, plays: int = 8, say: str = "", price: bool = True) -> None:
        self.catalog, self.seed, self.plays, self.say, self.price = catalog, seed, plays, say, price
        lines = STARTER.read_text("utf-8").splitlines()
        self.documents = [Document(**json.loads(line)) for line in lines]

    def cycle(self, number: int = 0, *, slots: int = 8, accepting: bool = True, finished: bool = True) -> Cycle:
        """One cycle with everything in it. Slot 3 is always dropped; the hint of slot 2 is refused."""
        cycle = Cycle("0f1e2d3c4b5a", self.seed, number)
        documents = [self._spoken(d) for d in self.documents[number * slots : number * slots + slots]]
        planned = plan_slots(cycle, Setting.GAMES, [d.document_id for d in documents])
        self.catalog.append("cycles", [cycle])
        self.catalog.append("documents", documents)
        self.catalog.append("slots", planned)
        self._prompts, self._environments = list[Prompt](), list[Environment]()
        attempts = {s.slot_id: self._attempts(s, accepting and s.index != 3) for s in planned}
        hints, episodes = self._played(planned, attempts)
        self.catalog.append("attempts", [a for tried in attempts.values() for a in tried])
        self.catalog.append("environments", self._environments)
        self.catalog.append("prompts", self._prompts)
        made = dict.fromkeys(a.env_id for tried in attempts.values() for a in tried if a.accepted)
        scores = [score(cycle.cycle_id, env, [e for e in episodes if e.asked.env_id == env]) for env in made]
        self.catalog.append("scores", scores)
        rows, dataset = self._curated(episodes) if finished else (0, "")
        if finished:
            records = CycleRecords(cycle.cycle_id, number, attempts, hints, episodes, scores, min(3, len(made)))
            summary = summarise(records, rows=rows, dataset_id=dataset, seconds=184.0 + number)
            stood = self._curriculum(cycle, episodes)
            self.catalog.append("summaries", [replace(summary, curriculum=stood)])
        return cycle

    def _curriculum(self, cycle: Cycle, episodes: Sequence[Episode]) -> Curriculum:
        matches = matches_of(episodes)
        ratings = rate_cycle(self.catalog, cycle.cycle_id, matches)
        made = len(self._environments)
        return curriculum(matches, ratings, self._environments, vendi=0.6 * made if made else None, vendi_of=made)

    def _spoken(self, document: Document) -> Document:
        if not self.say:
            return document
        return replace(document, text=f"{self.say} {document.text}", title=self.say, subject=self.say, source=self.say)

    def _text(self, text: str) -> str:
        return f"{self.say} {text}" if self.say else text

    def _attempts(self, slot: Slot, wins: bool) -> list[Attempt]:
        tries = 1 + slot.index % 3 if wins else 6
        made = [self._attempt(slot, number, accepted=wins and number == tries - 1) for number in range(tries)]
        return made

    def _attempt(self, slot: Slot, number: int, *, accepted: bool) -> Attempt:
        title = self._text(f"{('Two dials', 'Colour court', 'Nim by lamplight', 'Hidden weight')[slot.index % 4]}")
        code = PROGRAM.format(title=f"{title} {slot.index}-{slot.seed}", top=20 + 5 * slot.index)
        environment = Environment(self._text(code), slot.setting, slot.skill, title, self._text("narrowing"))
        gate, message = REFUSALS[(slot.index + number) % len(REFUSALS)]
        verdicts = [Verdict(g, Status.PASS, "", 1, 1, 0.004) for g in PASSING if accepted or g != gate]
        if accepted:
            verdicts.append(Verdict("pool.near", Status.WARN, self._text("Close to env-0 (0.87)."), 0.87, 0.85, 0.02))
            self._environments.append(environment)
        else:
            verdicts.append(Verdict(gate, Status.FAIL, self._text(message), [0.4, self.say], 1.0, 0.31))
        messages = (Message("system", "Write one environment."), Message("user", self._text("Document: ...")))
        prompt = Prompt(Role.DESIGNER, messages, "design.md", digest("design"))
        self._prompts.append(prompt)
        return Attempt(
            slot_id=slot.slot_id,
            number=number,
            prompt_id=prompt.prompt_id,
            completion=self._completion(
                f"```python\n{environment.code}\n```", Usage(1450, 610, self._price(0.0021)), 4.2
            ),
            sampling=Sampling(),
            env_id=environment.env_id if accepted or number % 2 else "",
            repairs=(self._text("closed a code block"),) if number else (),
            verdicts=tuple(verdicts),
            rejected_by="" if accepted else gate,
        )

    def _completion(self, text: str, usage: Usage, seconds: float) -> Completion:
        return Completion(
            text, self._text(MODEL), WEIGHTS, "stop", self._text("I think."), usage=usage, seconds=seconds
        )

    def _price(self, cost: float) -> float | None:
        return cost if self.price else None

    def _played(self, slots: Sequence[Slot], attempts: dict[str, list[Attempt]]) -> tuple[list[Hint], list[Episode]]:
        hints, episodes = list[Hint](), list[Episode]()
        for slot in slots:
            env_id = next((a.env_id for a in attempts[slot.slot_id] if a.accepted), "")
            if not env_id:
                continue
            hint = self._hint(env_id, refused=slot.index == 2)
            hints.append(hint)
            for arm in (Arm.PLAIN, Arm.HINTED):
                if arm is Arm.PLAIN or hint.accepted:
                    episodes += [self._episode(slot, env_id, arm, play, hint) for play in range(self.plays)]
        self.catalog.append("hints", hints)
        self.catalog.append("episodes", episodes)
        return hints, episodes

    def _hint(self, env_id: str, *, refused: bool) -> Hint:
        gate = "hint.no_leak" if refused else ""
        text = self._text("Ask about the middle of what is left; each answer then halves it.")
        verdict = Verdict(
            "hint.no_leak", Status.FAIL if refused else Status.PASS, self._text("It names 17."), seconds=0.01
        )
        prompt = Prompt(Role.HINT, (Message("user", self._text("Write a hint.")),), "hint.md", digest("hint"))
        self._prompts.append(prompt)
        completion = self._completion(text, Usage(700, 40, self._price(0.0002)), 0.9)
        return Hint(env_id, 0, text, prompt.prompt_id, completion, (verdict,), gate)

    def _episode(self, slot: Slot, env_id: str, arm: Arm, play: int, hint: Hint) -> Episode:
        seed = seed_for(self.seed, slot.cycle_id, env_id, play)
        asked = Asked(slot.cycle_id, env_id, 0, arm, play, seed, hint.hint_id if arm is Arm.HINTED else "")
        draw = rng_for(seed, arm, slot.cycle_id)
        if slot.index == 5 and play % 2:
            detail = self._text("step 2: ZeroDivisionError: division by zero (line 17)")
            return self._ended(asked, EpisodeOutcome.ENV_ERROR, (self._turn("higher", "12", 0.0),), None, detail)
        if slot.index == 6 and play < self.plays - 2:
            detail = self._text("the endpoint closed the connection four times")
            return self._ended(asked, EpisodeOutcome.MODEL_ERROR, (), None, detail)
        skill = (0.05, 0.35, 0.5, 0, 0.6, 0.4, 0.5, 0.95)[slot.index % 8] + (0.3 if arm is Arm.HINTED else 0.0)
        won = draw.random() < skill
        turns = [self._turn("higher" if i else f"Find the number, play {play}.", str(8 + 3 * i), 0.0) for i in range(3)]
        if won:
            turns.append(replace(self._turn("lower", "14", 1.0), terminated=True))
        outcome = EpisodeOutcome.COMPLETED if won else EpisodeOutcome.TRUNCATED
        return self._ended(asked, outcome, tuple(turns), 1.0 if won else 0.0, "" if won else "the run's turn cap")

    def _turn(self, observation: str, action: str, reward: float) -> Turn:
        reply = self._text(f"The number is above the middle, so I ask \\boxed{{{action}}}")
        said = self._text("Halving is best.")
        return Turn(self._text(observation), reply, self._text(action), reward, False, False, said, "stop", True)

    def _ended(
        self, asked: Asked, outcome: EpisodeOutcome, turns: tuple[Turn, ...], return_: float | None, detail: str
    ) -> Episode:
        return Episode(
            asked=asked,
            outcome=outcome,
            turns=turns,
            model=self._text(MODEL),
            weights=WEIGHTS,
            return_=return_,
            won=None if return_ is None else return_ == 1.0,
            detail=detail,
            final_observation=self._text("Right.") if return_ else "",
            usage=Usage(320 * len(turns), 24 * len(turns), self._price(0.0001 * len(turns))),
            seconds=0.4 * len(turns),
        )

    def _curated(self, episodes: Sequence[Episode]) -> tuple[int, str]:
        decisions = list(decide_positives(episodes, frozenset(e.episode_id for e in episodes)))
        self.catalog.append("decisions", decisions)
        kept = {d.episode_id for d in decisions if d.kept}
        chosen = [e for e in episodes if e.episode_id in kept]
        if not chosen:
            return 0, ""
        name = self._text("sft-positives")
        dataset = Dataset(name, "sft", digest("".join(e.episode_id for e in chosen)), len(chosen), "0f1e2d3c4b5a")
        self.catalog.append("datasets", [dataset])
        rows = [DatasetRow(dataset.dataset_id, i, e.episode_id, e.asked.env_id) for i, e in enumerate(chosen)]
        self.catalog.append("dataset_rows", rows)
        return len(rows), dataset.dataset_id
