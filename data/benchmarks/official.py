"""Benchmarks whose own runner does the work, with a simulated user of its own: their result files, read as results."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.benchmarks.local_data import version_of
from spade.errors import Abort
from spade.evaluating import MarkerError, Talk
from spade.evaluation import Mark, Protocol, Question, SampleOutcome, SuiteCard

TAU2 = (
    "Install it from its repository (sierra-research/tau2-bench; the package tau2 on PyPI is another one), run "
    "`tau2 run` against your endpoint, and name the file it writes under data/simulations: tau2:path=FILE."
)


@dataclass
class Tau2:
    """tau2-bench from the file of simulations that its runner writes. The model is not asked again: each sample is one
    simulation, with the reward that the benchmark's evaluator gave it."""

    path: str

    def __post_init__(self) -> None:
        place = Path(self.path).expanduser()
        if not self.path or not place.is_file():
            raise Abort(f"tau2-bench has no result file {self.path or '(none was named)'}.", TAU2)
        self._file = place
        self._agent, self._simulations = _read(place)

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="tau2",
            version=version_of(self._file),
            title="tau2-bench",
            source="arXiv 2506.07982, run by its own runner",
            licence="MIT",
            about="customer service with tools, policies and a simulated user",
        )

    @property
    def protocol(self) -> Protocol:
        samples = max((len(found) for found in self._simulations.values()), default=1)
        return Protocol(
            samples=samples,
            system="tau2-bench's own",
            extraction="tau2-bench's own evaluator",
            metric="mean reward of a simulation as its evaluator gave it; sampling is that of its runner",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """The first `tasks` tasks of the file."""
        return [Question(task, "all", {"trials": trials}) for task, trials in self._simulations.items()][:tasks]

    async def prompt(self, question: Question) -> str:
        return ""

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        """The simulation of this number. Raises `Abort` when another model made the file."""
        if talk.model.name not in self._agent:
            raise Abort(f"{self._file} was made by {self._agent or 'nobody named'}, not by {talk.model.name}.", TAU2)
        trials = question.content["trials"]
        if talk.number >= len(trials):
            raise MarkerError("the file has no further simulation of this task.")
        reward, why = trials[talk.number]
        if reward is None:
            raise MarkerError(f"the simulation has no reward: {why}")
        return Mark(min(max(float(reward), 0.0), 1.0), "", SampleOutcome.SCORED, why)

    async def aclose(self) -> None:
        return None


def _read(path: Path) -> tuple[str, dict[str, list[tuple[float | None, str]]]]:
    """The agent's model; rewards and ends by task, in the order of the trials."""
    try:
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
        agent = str(((values.get("info") or {}).get("agent_info") or {}).get("llm") or "")
        ordered = sorted(values["simulations"], key=lambda s: (str(s["task_id"]), s.get("trial") or 0))
        found: dict[str, list[tuple[float | None, str]]] = {}
        for one in ordered:
            reward = (one.get("reward_info") or {}).get("reward")
            found.setdefault(str(one["task_id"]), []).append((reward, str(one.get("termination_reason", ""))))
    except (ValueError, KeyError, TypeError) as error:
        raise Abort(f"{path} is no result file of tau2-bench ({type(error).__name__}: {error}).", TAU2) from error
    return agent, found
