"""Five hundred stored replies of many shapes score exactly as the packages' own scorers scored them.

The files beside this one are written by `replies/make_*.py`, which run in the packages' environments without our code.
"""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.packages import BFCL, REASONING_GYM, Package, python_of
from data.benchmarks.reasoning_gym import ReasoningGym
from data.benchmarks.worker import Workers
from spade.errors import Abort
from spade.evaluating import Talk
from spade.evaluation import Question
from spade.evaluation_settings import EvaluationSettings
from tests.fakes import ScriptedModel

ENVIRONMENTS = EvaluationSettings().environments.expanduser()
REPLIES = Path(__file__).with_name("replies")


def stored(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (REPLIES / name).read_text("utf-8").splitlines()]


def interpreter(package: Package) -> Path:
    try:
        return python_of(package, ENVIRONMENTS)
    except Abort as missing:
        pytest.skip(str(missing))


def test_there_are_five_hundred_of_all_shapes() -> None:
    answers, conversations = stored("reasoning_gym.jsonl"), stored("bfcl.jsonl")
    assert (len(answers), len(conversations)) == (400, 100)
    assert len({line["dataset"] for line in answers}) == 100
    assert len({line["reply"] for line in answers}) > 300
    assert min(Counter(line["shape"] for line in answers).values()) >= 20
    assert Counter(0 < line["score"] < 1 for line in answers)[True] > 20
    assert min(Counter(line["valid"] for line in conversations).values()) > 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_answers_score_as_the_package_scored_them() -> None:
    interpreter(REASONING_GYM)

    async def marked() -> list[tuple[float | None, float]]:
        suite = ReasoningGym(ENVIRONMENTS, "easy")
        talk = Talk(ScriptedModel(""), suite.protocol, 0)
        pairs = []
        try:
            for line in stored("reasoning_gym.jsonl"):
                where = {"name": line["dataset"], "seed": line["seed"], "parameters": {}, "index": line["index"]}
                mark = await suite.mark(Question(line["dataset"], "all", {"where": where}), line["reply"], talk)
                pairs.append((mark.score, min(max(line["score"], 0.0), 1.0)))
        finally:
            await suite.aclose()
        return pairs

    pairs = asyncio.run(marked())
    assert [at for at, (ours, theirs) in enumerate(pairs) if ours != theirs] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_conversations_are_judged_as_the_package_judged_them() -> None:
    workers = Workers(interpreter(BFCL), BFCL.script)

    async def judged() -> list[tuple[Any, Any]]:
        pairs = []
        try:
            for line in stored("bfcl.jsonl"):
                asked = {"category": line["category"], "task_id": line["task_id"], "result": line["turns"]}
                said = await workers.call("check", calling=False, **asked)
                pairs.append(((said["valid"], said["why"]), (line["valid"], line["why"])))
        finally:
            await workers.aclose()
        return pairs

    pairs = asyncio.run(judged())
    assert [at for at, (ours, theirs) in enumerate(pairs) if ours != theirs] == []
