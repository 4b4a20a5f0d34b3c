"""BFCL through the package's own loop and checker: the truth passes, silence and nonsense do not."""

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.bfcl import Bfcl
from data.benchmarks.packages import BFCL, python_of
from spade.errors import Abort
from spade.evaluating import Talk
from spade.evaluation import Mark, Question, SampleOutcome
from spade.evaluation_settings import EvaluationSettings
from spade.messages import Completion, Request, ToolCall

ENVIRONMENTS = EvaluationSettings().environments.expanduser()


@pytest.fixture(scope="module")
def truths() -> dict[str, list[list[str]]]:
    """The package's ground truth by task."""
    try:
        python = python_of(BFCL, ENVIRONMENTS)
    except Abort as missing:
        pytest.skip(str(missing))
    (folder,) = python.parents[1].glob("lib/python*/site-packages/bfcl_eval/data/possible_answer")
    lines = [line for file in folder.glob("*multi_turn*.json") for line in Path(file).read_text().splitlines()]
    return {entry["id"]: entry["ground_truth"] for entry in map(json.loads, lines)}


class Knowing:
    """Says the calls of each turn at once, then that it is done; in the form that the mode wants."""

    name, weights = "knowing", "knowing-1"

    def __init__(self, turns: list[list[str]], *, calling: bool) -> None:
        self._replies = [said for turn in turns for said in ([turn, []] if turn else [[]])]
        self._calling = calling
        self.requests: list[Request] = []
        self.seen: set[str] = set()
        """How the conversations began."""

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        self.seen.add(request.messages[0].content)
        calls = self._replies[len(self.requests) - 1]
        if not self._calling:
            return Completion(f"[{', '.join(calls)}]" if calls else "Done.", self.name, self.weights)
        made = tuple(ToolCall(f"c{n}", *_parts(call)) for n, call in enumerate(calls))
        return Completion("" if made else "Done.", self.name, self.weights, tool_calls=made)


def keyworded(turns: list[list[str]]) -> bool:
    """Whether every argument is named: the package's decoding leaves out those that are not."""
    calls: list[Any] = [ast.parse(call, mode="eval").body for turn in turns for call in turn]
    return not any(call.args for call in calls)


def _parts(call: str) -> tuple[str, str]:
    """Name and JSON arguments of a call with keywords."""
    node: Any = ast.parse(call, mode="eval").body
    return node.func.id, json.dumps({k.arg: ast.literal_eval(k.value) for k in node.keywords})


def played(
    model: Any, group: str, mode: str = "prompt", tasks: int = 4, docs: str = "json"
) -> list[tuple[Question, Mark]]:
    """`model` makes a player of a task."""

    async def taken() -> list[tuple[Question, Mark]]:
        suite = Bfcl(ENVIRONMENTS, mode, docs, processes=1)
        try:
            questions = [q for q in await suite.questions(tasks, 0) if q.group == group]
            return [(q, await suite.attempt(q, Talk(model(q), suite.protocol, 0))) for q in questions]
        finally:
            await suite.aclose()

    return asyncio.run(taken())


@pytest.mark.parametrize("group", ["base", "miss_func", "miss_param", "long_context"])
def test_the_ground_truth_passes(truths: dict[str, list[list[str]]], group: str) -> None:
    found = played(lambda q: Knowing(truths[q.task_id], calling=False), group, tasks=8)
    ended = {q.task_id: (m.score, m.outcome) for q, m in found if keyworded(truths[q.task_id])}
    assert ended
    assert set(ended.values()) == {(1.0, SampleOutcome.SCORED)}, ended


def test_the_ground_truth_passes_as_tool_calls(truths: dict[str, list[list[str]]]) -> None:
    def player(question: Question) -> Knowing:
        turns = truths[question.task_id]
        return Knowing(turns, calling=keyworded(turns))

    found = played(player, "base", "calls", tasks=8)
    scores = [mark.score for question, mark in found if keyworded(truths[question.task_id])]
    assert scores
    assert set(scores) == {1.0}


def test_one_call_left_out_fails(truths: dict[str, list[list[str]]]) -> None:
    """The state differs then, and the package's checker says so."""
    for question, mark in played(lambda q: Knowing([[], *truths[q.task_id][1:]], calling=False), "base"):
        assert mark.score == 0.0, question.task_id
        assert mark.detail.startswith("multi_turn:")


def test_talk_without_calls_is_no_answer(truths: dict[str, list[list[str]]]) -> None:
    for _, mark in played(lambda q: Knowing([[] for _ in truths[q.task_id]], calling=False), "base"):
        assert (mark.score, mark.outcome) == (0.0, SampleOutcome.NO_ANSWER)


def test_functions_are_written_as_the_package_writes_them(truths: dict[str, list[list[str]]]) -> None:
    """Its python form is the shorter one, and both hold every function."""
    said = {}
    for docs in ("json", "python"):
        asked: list[Knowing] = []

        def player(question: Question, asked: list[Knowing] = asked) -> Knowing:
            asked.append(Knowing([[] for _ in truths[question.task_id]], calling=False))
            return asked[-1]

        played(player, "base", tasks=1, docs=docs)
        said[docs] = asked[0].requests[0].messages[0].content
    tools = re.findall(r'^        "name": "(\w+)"', said["json"], re.MULTILINE)
    assert len(tools) > 5
    assert re.findall(r"^# Function: (\w+)", said["python"], re.MULTILINE) == tools
    assert len(said["python"]) < 0.6 * len(said["json"])


def test_tasks_with_the_same_tools_begin_alike(truths: dict[str, list[list[str]]]) -> None:
    asked: dict[str, set[str]] = {}

    def player(question: Question) -> Knowing:
        made = Knowing([[] for _ in truths[question.task_id]], calling=False)
        made.seen = asked.setdefault(question.alike, set())
        return made

    played(player, "base", tasks=16)
    assert all(len(beginnings) == 1 for beginnings in asked.values())
    assert 1 < len(asked) < 16


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("loud", "json"), "bfcl has no mode 'loud'"),
        (("prompt", "yaml"), "bfcl has no docs 'yaml'"),
        (("calls", "python"), "writes no docs in mode=calls"),
    ],
)
def test_an_unknown_option_is_refused(given: tuple[str, str], sentence: str) -> None:
    with pytest.raises(Abort, match=sentence):
        Bfcl(ENVIRONMENTS, *given)
