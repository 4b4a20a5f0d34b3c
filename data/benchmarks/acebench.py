"""ACEBench-Agent: tool use with state and a simulated user, run by its own runner; its score files, read as results."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spade.errors import Abort
from spade.evaluating import Talk
from spade.evaluation import Mark, Protocol, Question, SampleOutcome, SuiteCard
from spade.identity import digest

CATEGORIES = ("agent_multi_step", "agent_multi_turn")
REMEDY = (
    "Run generate.py and eval_main.py of its repository (ACEBench/ACEBench) with --category agent against your "
    "endpoint, and name the folder of score files that the latter writes: acebench:path=FOLDER, such as "
    "score_all/score_en/MODEL."
)


@dataclass
class AceBench:
    """The suite from the two `data_agent_*_score.json` of a model. The model is not asked again.

    A score file has a line of sums (`end_to_end_accuracy`, `correct_count`, `total_count`), and one line for each task
    that failed: its place in the category as `id`, `error_type` and `error`. What is not listed was right.
    """

    path: str
    _failed: dict[str, dict[int, str]] = field(default_factory=dict)
    _totals: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._folder = Path(self.path).expanduser()
        files = [self._folder / f"data_{category}_score.json" for category in CATEGORIES]
        absent = next((file.name for file in files if not self.path or not file.is_file()), None)
        if absent is not None:
            raise Abort(f"ACEBench-Agent has no {absent} in {self.path or '(no folder was named)'}.", REMEDY)
        for category, file in zip(CATEGORIES, files, strict=True):
            self._totals[category], self._failed[category] = _read(file)
        self._version = digest("\0".join(file.read_text("utf-8") for file in files))[:10]

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="acebench",
            version=f"{self._folder.name}-{self._version}",
            title="ACEBench-Agent",
            source="arXiv 2501.12851, run by its own runner",
            licence="that of its repository",
            about="tools with state, over several steps and with a simulated user over several turns",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            system="ACEBench's own",
            extraction="ACEBench's own evaluator",
            metric="share of tasks whose final state is the true one (its end-to-end accuracy; its own agent summary "
            "is the mean of the two categories, whatever their sizes); sampling is that of its runner",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """The first `tasks` of each category in the benchmark's order."""
        return [
            Question(f"{category}_{n}", category, {"place": n})
            for category, total in self._totals.items()
            for n in range(total)[:tasks]
        ]

    async def prompt(self, question: Question) -> str:
        return ""

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        """What its evaluator said. Raises `Abort` when the folder is another model's."""
        if talk.model.name not in self._folder.name:
            raise Abort(f"{self._folder} holds scores of {self._folder.name}, not of {talk.model.name}.", REMEDY)
        why = self._failed[question.group].get(question.content["place"])
        return Mark(float(why is None), "", SampleOutcome.SCORED, why or "")

    async def aclose(self) -> None:
        return None


def _read(file: Path) -> tuple[int, dict[int, str]]:
    """How many tasks there are, and why which of them failed. Raises `Abort` where the lines contradict the sums."""
    try:
        sums, *failed = _lines(file)
        total, right = int(sums["total_count"]), int(sums["correct_count"])
        reasons = {int(line["id"]): str(line["error_type"]) for line in failed}
    except (ValueError, KeyError, TypeError) as error:
        raise Abort(f"{file} is no score file of ACEBench ({type(error).__name__}: {error}).", REMEDY) from error
    whole = total > 0 and len(reasons) == len(failed) == total - right and all(0 <= n < total for n in reasons)
    if not whole:
        raise Abort(f"{file} lists {len(failed)} failed tasks, and its sums say {total - right} of {total}.", REMEDY)
    return total, reasons


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
