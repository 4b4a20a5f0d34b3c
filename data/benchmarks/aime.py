"""AIME 2025 and 2026: thirty problems of a mathematics competition, each with a whole number as its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.benchmarks.judging import equal
from data.benchmarks.local_data import first_of, found, rows, version_of
from spade.boxes import last_box
from spade.errors import Abort
from spade.evaluating import Talk, opening, unanswered
from spade.evaluation import Mark, Protocol, Question, SuiteCard
from spade.ports import Sandbox

YEARS = ("2025", "2026")
ASK = "\n\nPlease reason step by step, and put your final answer within \\boxed{}."


@dataclass
class Aime:
    """The suite; `file` is looked for as `aime-YEAR.jsonl` in the folder of benchmark files."""

    year: str
    data: Path
    path: str
    sandbox: Sandbox

    def __post_init__(self) -> None:
        if self.year not in YEARS:
            raise Abort(f"aime has no year {self.year!r}.", f"Use one of {', '.join(YEARS)}.")

    @property
    def file(self) -> Path:
        what = "a JSONL file with problem and answer a line"
        return found(f"AIME {self.year}", self.path, self.data / f"aime-{self.year}.jsonl", what)

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name=f"aime-{self.year}",
            version=version_of(self.file),
            title=f"AIME {self.year}",
            source="American Invitational Mathematics Examination, both papers of the year; a file of your own",
            licence="the Mathematical Association of America's; not redistributed here",
            about="competition problems whose answers are whole numbers from 0 to 999",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            samples=32,
            max_tokens=32768,
            extraction="the last \\boxed{} outside thoughts",
            metric="share of samples equal to the answer by math-verify (avg@k over k samples)",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """The first `tasks` problems of the file."""
        return [self._question(row, number) for number, row in enumerate(rows(self.file), 1)][:tasks]

    def _question(self, row: dict[str, Any], number: int) -> Question:
        where = f"row {number} of {self.file}"
        prompt = row.get("prompt")
        if isinstance(prompt, list):
            row = {**row, "prompt": "\n".join(str(m.get("content", "")) for m in prompt if m.get("role") == "user")}
        text = first_of(row, ("problem", "question", "prompt"), where)
        answer = first_of(row, ("answer", "label", "expected_answer"), where)
        asked = text if "\\boxed" in text else text + ASK
        return Question(f"{self.year}/{number}", self.year, {"prompt": asked, "answer": answer})

    async def prompt(self, question: Question) -> str:
        return str(question.content["prompt"]).removesuffix(ASK)

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        completion = await talk.ask(opening(talk.protocol, question.content["prompt"]))
        answer = last_box(completion.text)
        if answer is None:
            return unanswered(talk)
        return Mark(float(await equal(self.sandbox, question.content["answer"], answer)), answer)

    async def aclose(self) -> None:
        return None
