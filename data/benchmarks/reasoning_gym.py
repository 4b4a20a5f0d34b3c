"""Reasoning-Gym: generated tasks of a hundred kinds in four categories, each with its own scorer."""

import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from data.benchmarks.packages import REASONING_GYM, greeted, python_of
from data.benchmarks.worker import START_SECONDS, Workers
from spade.errors import Abort
from spade.evaluating import Talk, opening, unanswered
from spade.evaluation import Mark, Protocol, Question, SuiteCard
from spade.identity import rng_for, seed_for

CATEGORIES = {
    **dict.fromkeys(("algebra", "arithmetic", "geometry", "graphs"), "math"),
    **dict.fromkeys(("algorithmic", "code"), "algorithmic"),
    **dict.fromkeys(("arc", "cognition", "games"), "cognition"),
    **dict.fromkeys(("induction", "logic"), "logic"),
}
"""The four columns of the paper by the package's own modules."""
LATER = frozenset({"boxnet", "coin_flip", "composite", "kakurasu", "path_star", "survo"})
"""Datasets that came after the split of one hundred, which the paper uses."""
PER_DATASET = 8
"""Instances of each dataset in the whole suite."""
LEVELS = ("hard", "easy")
QUESTION_SECONDS = 60.0
"""At the hard level some generators search for minutes; such a task counts as not measured."""
SYSTEM = """\
Given a problem, your task is to answer the question by thinking step-by-step in a clear and specific manner.
Once you have thought about the reasoning process, provide the answer in the following format:
<answer>answer here</answer>
Do not explain your reasoning inside the answer tags, provide only the final answer. When an example is provided, you \
should strictly follow the format of the output/answer in that example.
"""
"""The package's own `default` prompt; the worker says whether it still is."""


@dataclass
class ReasoningGym:
    """The suite; `level` is `hard` (parameters of its authors) or `easy` (the package's defaults)."""

    environments: Path
    level: str = "hard"
    processes: int = 2
    _workers: Workers | None = None
    _parameters: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise Abort(f"reasoning-gym has no level {self.level!r}.", f"Use one of {', '.join(LEVELS)}.")
        if self.level == "hard":
            text = (files("data.benchmarks") / "reasoning_gym_hard.toml").read_text("utf-8")
            self._parameters = tomllib.loads(text)

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="reasoning-gym",
            version=REASONING_GYM.version,
            title="Reasoning-Gym",
            source="package reasoning-gym (arXiv 2505.24760); tasks are generated from seeds",
            licence="Apache-2.0",
            about="one hundred kinds of generated reasoning tasks in four categories, marked by the package's scorers",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            system=SYSTEM,
            extraction="the package's extract_answer: the last <answer> element",
            metric="mean score of the package's scorer, in [0, 1]",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """`tasks` of each category over its datasets in turn, in a seeded order; `PER_DATASET` of each dataset when
        None."""
        said = await greeted(self._calls(START_SECONDS), REASONING_GYM)
        if said["system"] != SYSTEM:
            raise Abort("reasoning-gym's default prompt is not the one this suite is written for.", "Report it.")
        self._calls(QUESTION_SECONDS)
        return [self._question(*each, seed) for each in _planned(said["modules"], tasks, seed)]

    def _question(self, group: str, name: str, index: int, seed: int) -> Question:
        where: dict[str, Any] = {
            "name": name,
            "seed": seed_for(seed, "reasoning-gym", name),
            "parameters": self._parameters.get(name, {}),
            "index": index,
        }
        return Question(f"{name}/{index}", group, {"where": where})

    async def prompt(self, question: Question) -> str:
        """The task's text, generated now. Raises `MarkerError` where the package does not come to an end."""
        return str(await self._calls().call("question", **question.content["where"]))

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        completion = await talk.ask(opening(talk.protocol, await self.prompt(question)))
        return await self.mark(question, completion.text, talk)

    async def mark(self, question: Question, reply: str, talk: Talk) -> Mark:
        """What the package's scorer says of a reply."""
        said = await self._calls().call("mark", reply=reply, **question.content["where"])
        score = min(max(said["score"], 0.0), 1.0)
        if said["answer"] is None:
            return replace(unanswered(talk), score=score)
        return Mark(score, said["answer"], detail=said["raised"])

    async def aclose(self) -> None:
        if self._workers is not None:
            await self._workers.aclose()

    def _calls(self, seconds: float | None = None) -> Workers:
        if self._workers is None:
            python = python_of(REASONING_GYM, self.environments)
            self._workers = Workers(python, REASONING_GYM.script, self.processes)
        if seconds is not None:
            self._workers.seconds = seconds
        return self._workers


def _planned(modules: dict[str, str], tasks: int | None, seed: int) -> list[tuple[str, str, int]]:
    """Category, dataset and index of every task."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(modules):
        if modules[name] in CATEGORIES and name not in LATER:
            groups[CATEGORIES[modules[name]]].append(name)
    planned = []
    for group in dict.fromkeys(CATEGORIES.values()):
        names = groups[group]
        rng_for(seed, "reasoning-gym", group).shuffle(names)
        count = PER_DATASET * len(names) if tasks is None else tasks
        planned += [(group, names[i % len(names)], i // len(names)) for i in range(count)]
    return planned
