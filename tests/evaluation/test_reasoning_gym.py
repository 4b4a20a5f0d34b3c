"""Our scores of Reasoning-Gym are the package's own, reply by reply."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from data.benchmarks.packages import REASONING_GYM, Package, greeted, python_of
from data.benchmarks.reasoning_gym import ReasoningGym
from data.benchmarks.worker import Worker, Workers
from spade.errors import Abort
from spade.evaluating import MarkerError, Talk
from spade.evaluation import Question
from spade.evaluation_settings import EvaluationSettings
from tests.fakes import ScriptedModel

ENVIRONMENTS = EvaluationSettings().environments.expanduser()
DIRECTLY = """
import json, sys
import reasoning_gym
from reasoning_gym.utils import extract_answer
for line in sys.stdin:
    asked = json.loads(line)
    made = reasoning_gym.create_dataset(asked["name"], seed=asked["seed"], size=1000, **asked["parameters"])
    entry, scores = made[asked["index"]], []
    form = ["<answer>%s</answer>", "It is <answer> %s </answer>, I say.", "%s", "<answer>x%sx</answer>", "<answer>"]
    replies = [f % str(entry["answer"]) if "%s" in f else f for f in form]
    for reply in replies:
        try:
            scores.append(float(made.score_answer(extract_answer(reply), entry)))
        except Exception:
            scores.append(0.0)
    print(json.dumps({"replies": replies, "scores": scores}), flush=True)
"""


def python() -> Path:
    try:
        return python_of(REASONING_GYM, ENVIRONMENTS)
    except Abort as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_hundred_replies_score_as_the_package_scores_them() -> None:
    """Every dataset of the suite once, five replies each: right, right in a sentence, bare, wrong, and cut."""
    interpreter = python()

    async def compared() -> tuple[int, list[str]]:
        suite = ReasoningGym(ENVIRONMENTS, "easy")
        try:
            questions = [q for q in await suite.questions(36, 3) if q.task_id.endswith("/0")]
            said = _directly(interpreter, questions)
            differ, count = [], 0
            for question, theirs in zip(questions, said, strict=True):
                for reply, score in zip(theirs["replies"], theirs["scores"], strict=True):
                    talk = Talk(ScriptedModel(reply), suite.protocol, 0)
                    ours = await suite.attempt(question, talk)
                    count += 1
                    if ours.score != min(max(score, 0.0), 1.0):
                        differ.append(f"{question.task_id}: {ours.score} against {score} for {reply[:80]!r}")
            return count, differ
        finally:
            await suite.aclose()

    count, differ = asyncio.run(compared())
    assert differ == []
    assert count == 500


def _directly(interpreter: Path, questions: list[Question]) -> list[dict[str, list[object]]]:
    """Replies and scores from the package alone."""
    lines = "\n".join(json.dumps(q.content["where"]) for q in questions)
    said = subprocess.run(
        [str(interpreter), "-c", DIRECTLY], input=lines, capture_output=True, text=True, check=True, timeout=300
    )
    starts = [(line, line.find('{"replies"')) for line in said.stdout.splitlines()]  # some datasets print dots
    return [json.loads(line[start:]) for line, start in starts if start >= 0]


def test_the_hundred_datasets_in_four_categories() -> None:
    """The split of the paper, and equal seeds give equal tasks: the first n of more are the same."""
    python()

    async def asked() -> tuple[list[Question], list[Question]]:
        suite = ReasoningGym(ENVIRONMENTS, "easy")
        try:
            return list(await suite.questions(3, 0)), list(await suite.questions(2, 0))
        finally:
            await suite.aclose()

    three, two = asyncio.run(asked())
    assert Counter(q.group for q in three) == {"math": 3, "algorithmic": 3, "cognition": 3, "logic": 3}
    assert [q for q in three if q.task_id in {t.task_id for t in two}] == two


def test_a_missing_package_is_one_sentence(tmp_path: Path) -> None:
    missing = Package("no-such-benchmark", "1.0", "reasoning_gym_worker.py")
    with pytest.raises(Abort, match=r"needs the package no-such-benchmark==1\.0"):
        python_of(missing, tmp_path)


def test_another_version_is_refused() -> None:
    workers = Workers(python(), REASONING_GYM.script)
    other = Package("reasoning-gym", "9.9", REASONING_GYM.script)

    async def asked() -> None:
        try:
            await greeted(workers, other)
        finally:
            await workers.aclose()

    with pytest.raises(Abort, match=r"needs reasoning-gym==9.9 and found 0.1.25"):
        asyncio.run(asked())


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Workers that misbehave, beside the real `serving`."""
    from data.benchmarks import worker

    serving = (worker.SCRIPTS / "serving.py").read_text()
    (tmp_path / "serving.py").write_text(serving)
    (tmp_path / "bad.py").write_text(
        "import os, time\nfrom serving import ask, serve\n"
        "serve({'die': lambda: os._exit(3), 'hang': lambda: time.sleep(60), 'fail': lambda: 1 / 0,\n"
        "'key': lambda: sorted(os.environ), 'noise': lambda: print('hello') or 7, 'twice': lambda: 2 * ask(4)})\n"
    )
    monkeypatch.setattr(worker, "SCRIPTS", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("scripts")
def test_a_worker_that_dies_or_hangs_costs_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed and started anew; what a package prints is not taken for an answer; no key of ours is in there."""

    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    async def asked() -> list[object]:
        worker = Worker(Path(sys.executable), "bad.py", seconds=5.0)
        said: list[object] = []
        try:
            for op in ("die", "hang", "fail", "noise", "key"):
                try:
                    said.append(await worker.call(op))
                except MarkerError as error:
                    said.append(str(error))
            said.append(await worker.call("twice", answering=_same))
        finally:
            await worker.aclose()
        return said

    died, hung, failed, noise, key, twice = asyncio.run(asked())
    assert "died in die" in str(died)
    assert "longer than 5 s" in str(hung)
    assert "ZeroDivisionError" in str(failed)
    assert (noise, twice) == (7, 8)
    assert "OPENAI_API_KEY" not in str(key)


async def _same(value: object) -> object:
    return value


CALLER = """
import asyncio, sys
from pathlib import Path
from data.benchmarks import worker

async def main():
    worker.SCRIPTS = Path(sys.argv[1])
    made = worker.Worker(Path(sys.executable), "bad.py")
    await made.call("noise")
    print(made._process.pid, flush=True)
    await made.call("hang")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal at the parent's death is Linux's")
def test_a_hung_worker_dies_with_its_caller(scripts: Path) -> None:
    """However the caller ends: a generator that searches for minutes reads no input that could tell it."""
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(scripts)], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    worker = Path("/proc", caller.stdout.readline().strip())
    assert worker.is_dir()
    caller.kill()
    caller.wait()
    for _ in range(100):
        if not worker.is_dir() or ") Z " in (worker / "stat").read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the worker outlived its caller")
