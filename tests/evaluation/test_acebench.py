"""ACEBench-Agent is read as its own evaluator wrote it; a folder that is not whole or another's is refused."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from data.benchmarks.acebench import AceBench
from spade.errors import Abort
from spade.evaluating import Talk
from spade.evaluation import Mark, Question, SampleOutcome
from tests.fakes import ScriptedModel

STEP, TURN = "data_agent_multi_step_score.json", "data_agent_multi_turn_score.json"
FAILED = {"valid": False, "error": ["..."], "error_type": "wrong number of class"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Score files as `eval_main.py` writes them: sums, then the tasks that failed by their place."""
    place = tmp_path / "score_en" / "scripted-local"
    place.mkdir(parents=True)
    sums = {"end_to_end_accuracy": 0.667, "process_accuracy": 0.8, "correct_count": 2, "total_count": 3}
    written(place / STEP, [sums, {"id": 1, **FAILED}])
    written(place / TURN, [{**sums, "correct_count": 0, "total_count": 2}, {"id": 0, **FAILED}, {"id": 1, **FAILED}])
    return place


def written(file: Path, lines: Sequence[dict[str, Any]]) -> None:
    file.write_text("\n".join(map(json.dumps, lines)))


def marks(folder: Path, model: str = "scripted") -> dict[str, Mark]:
    async def taken() -> dict[str, Mark]:
        suite, answering = AceBench(str(folder)), ScriptedModel("")
        answering.name = model
        questions: Sequence[Question] = await suite.questions(None, 0)
        return {q.task_id: await suite.attempt(q, Talk(answering, suite.protocol, 0)) for q in questions}

    return asyncio.run(taken())


def test_every_task_of_both_categories_has_its_evaluators_verdict(folder: Path) -> None:
    found = marks(folder)
    assert {name: mark.score for name, mark in found.items()} == {
        "agent_multi_step_0": 1.0, "agent_multi_step_1": 0.0, "agent_multi_step_2": 1.0,
        "agent_multi_turn_0": 0.0, "agent_multi_turn_1": 0.0,
    }  # fmt: skip
    assert {mark.outcome for mark in found.values()} == {SampleOutcome.SCORED}
    assert found["agent_multi_step_1"].detail == "wrong number of class"


def test_other_bytes_are_another_version(folder: Path) -> None:
    before = AceBench(str(folder)).card.version
    written(folder / TURN, [{"correct_count": 2, "total_count": 2}])
    assert AceBench(str(folder)).card.version != before


def test_scores_of_another_model_are_refused(folder: Path) -> None:
    with pytest.raises(Abort, match="holds scores of scripted-local, not of qwen"):
        marks(folder, "qwen")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            [{"correct_count": 1, "total_count": 3}, {"id": 1, **FAILED}],
            "lists 1 failed tasks, and its sums say 2",
        ),
        ([{"correct_count": 2, "total_count": 3}, {"id": 3, **FAILED}], "lists 1 failed tasks"),
        ([{"correct_count": 0, "total_count": 0}], "lists 0 failed tasks"),
        ([{"accuracy": 0.5}], "is no score file of ACEBench .KeyError"),
        ([], "is no score file of ACEBench .ValueError"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(folder: Path, lines: list[dict[str, Any]], sentence: str) -> None:
    written(folder / STEP, lines)
    with pytest.raises(Abort, match=sentence):
        AceBench(str(folder))


def test_a_folder_without_both_files_says_what_to_put_there(folder: Path) -> None:
    (folder / TURN).unlink()
    with pytest.raises(Abort, match=f"no {TURN} in .*acebench:path=FOLDER, such as score_all/score_en/MODEL"):
        AceBench(str(folder))
