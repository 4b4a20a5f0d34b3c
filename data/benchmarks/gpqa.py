"""GPQA-Diamond: 198 multiple-choice questions that experts of the field answer and others cannot look up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.local_data import first_of, found, rows, version_of
from spade.boxes import last_box, without_thoughts
from spade.evaluating import Talk, opening, unanswered
from spade.evaluation import Mark, Protocol, Question, SuiteCard
from spade.identity import rng_for

LETTERS = "ABCD"
ASK = "\n\nThink step by step, then give the letter of the right choice within \\boxed{}."
_SAID = re.compile(r"answer(?: is)?\s*:?\s*\**\s*\(?([ABCD])\b", re.IGNORECASE)


@dataclass
class Gpqa:
    """The suite; the file is looked for as `gpqa_diamond.csv` in the folder of benchmark files."""

    data: Path
    path: str

    @property
    def file(self) -> Path:
        what = "gpqa_diamond.csv as its authors publish it (Idavidrein/gpqa; its terms forbid putting it online)"
        return found("GPQA-Diamond", self.path, self.data / "gpqa_diamond.csv", what)

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="gpqa-diamond",
            version=version_of(self.file),
            title="GPQA-Diamond",
            source="arXiv 2311.12022; a file of your own",
            licence="CC-BY-4.0, behind terms that keep its questions off the web; not redistributed here",
            about="graduate questions of biology, physics and chemistry with four choices",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            samples=2,
            max_tokens=16384,
            temperature=0.7,
            extraction="the letter in the last \\boxed{} outside thoughts, else after the last 'answer is'",
            metric="share of samples with the right letter; choices are shuffled by the seed",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """The first `tasks` questions of the file."""
        made = []
        for number, row in enumerate(rows(self.file), 1):
            where = f"row {number} of {self.file}"
            right = first_of(row, ("Correct Answer",), where)
            wrong = [first_of(row, (f"Incorrect Answer {n}",), where) for n in (1, 2, 3)]
            choices = [right.strip(), *(text.strip() for text in wrong)]
            order = [0, 1, 2, 3]
            rng_for(seed, "gpqa", number).shuffle(order)
            lines = [f"({letter}) {choices[place]}" for letter, place in zip(LETTERS, order, strict=True)]
            text = "\n".join([first_of(row, ("Question",), where).strip(), "", *lines])
            made.append(Question(f"gpqa/{number}", "all", {"prompt": text, "answer": LETTERS[order.index(0)]}))
        return made[:tasks]

    async def prompt(self, question: Question) -> str:
        return str(question.content["prompt"])

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        completion = await talk.ask(opening(talk.protocol, question.content["prompt"] + ASK))
        letter = letter_in(completion.text)
        return Mark(float(letter == question.content["answer"]), letter) if letter else unanswered(talk)

    async def aclose(self) -> None:
        return None


def letter_in(reply: str) -> str:
    """The letter that a reply settles on; empty without one."""
    box = last_box(reply) or ""
    boxed = re.fullmatch(r"\W*(?:\\text\w*\{)?\W*([ABCD])\b.*", box, re.DOTALL)
    if boxed:
        return boxed[1]
    said = _SAID.findall(without_thoughts(reply))
    return said[-1].upper() if said else ""
