"""LiveCodeBench v6: programming problems newer than most training data, marked by hidden tests in our sandbox."""

import base64
import io
import json
import pickle
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.benchmarks.judging import Test, passes
from data.benchmarks.local_data import first_of, found, rows, version_of
from spade.boxes import without_thoughts
from spade.errors import Abort
from spade.evaluating import Talk, opening, unanswered
from spade.evaluation import Mark, Protocol, Question, SuiteCard
from spade.ports import Limits, Sandbox

LIMITS = Limits(wall_seconds=10.0, cpu_seconds=10.0, memory_mb=1024)
SYSTEM = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will generate a "
    "correct Python program that matches the specification and passes all tests."
)
STDIN = (
    "Read the inputs from stdin, solve the problem and write the answer to stdout. Put the whole program into one "
    "```python block."
)
STARTER = "Use this starter code and put the whole solution into one ```python block:\n```python\n{starter}\n```"
_BLOCK = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)


class _Texts(pickle.Unpickler):
    """Reads pickles of texts; anything that would run code is refused."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise Abort(f"a test of LiveCodeBench names {module_name}.{global_name}.", "Use the file as it was published.")


@dataclass
class LiveCodeBench:
    """The suite; the file is looked for as `test6.jsonl` in the folder of benchmark files."""

    data: Path
    path: str
    sandbox: Sandbox

    @property
    def file(self) -> Path:
        what = "test6.jsonl of livecodebench/code_generation_lite"
        return found("LiveCodeBench v6", self.path, self.data / "test6.jsonl", what)

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="livecodebench-v6",
            version=version_of(self.file),
            title="LiveCodeBench v6",
            source="arXiv 2403.07974, the problems that release v6 added; a file of your own",
            licence="CC (its problems are their sites'); not redistributed here",
            about="programming problems with hidden tests, by standard input or by a function",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            temperature=0.7,
            max_tokens=16384,
            system=SYSTEM,
            extraction="the last fenced block outside thoughts",
            metric="share of samples that pass every test in the sandbox (10 s and 1 GB a test)",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """The first `tasks` problems of the file; groups are the difficulties."""
        made = []
        for number, row in enumerate(rows(self.file), 1):
            where = f"row {number} of {self.file}"
            content = {
                "text": first_of(row, ("question_content",), where),
                "starter": str(row.get("starter_code") or ""),
                "tests": [[t.input, t.output, t.function] for t in _tests(row)],
            }
            if not content["tests"]:
                raise Abort(f"{where} has no tests.", "Use the file as its authors published it.")
            task_id = first_of(row, ("question_id",), where)
            made.append(Question(task_id, str(row.get("difficulty") or "all"), content))
        return made[:tasks]

    async def prompt(self, question: Question) -> str:
        return str(question.content["text"])

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        starter = question.content["starter"]
        form = STARTER.format(starter=starter) if starter else STDIN
        completion = await talk.ask(opening(talk.protocol, f"{question.content['text']}\n\n{form}"))
        blocks = _BLOCK.findall(without_thoughts(completion.text))
        return await self.mark(question, blocks[-1]) if blocks else unanswered(talk)

    async def mark(self, question: Question, code: str) -> Mark:
        """All tests until one fails."""
        for number, values in enumerate(question.content["tests"], 1):
            right, said = await passes(self.sandbox, code, Test(*values), LIMITS)
            if not right:
                return Mark(0.0, code, detail=f"test {number}: {said}")
        return Mark(1.0, code)

    async def aclose(self) -> None:
        return None


def _tests(row: dict[str, Any]) -> Iterator[Test]:
    """Public and private tests; private ones come as JSON, or packed as the authors pack them."""
    function = json.loads(row.get("metadata") or "{}").get("func_name") or ""
    for field in ("public_test_cases", "private_test_cases"):
        for case in _unpacked(row.get(field) or "[]"):
            yield Test(case["input"], case["output"], function if case.get("testtype") == "functional" else "")


def _unpacked(text: str) -> list[dict[str, str]]:
    try:
        cases: list[dict[str, str]] = json.loads(text)
    except ValueError:
        packed = zlib.decompress(base64.b64decode(text))
        cases = json.loads(_Texts(io.BytesIO(packed)).load())
    return cases
