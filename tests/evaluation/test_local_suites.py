"""Suites that mark in the sandbox, from files of one's own: right is right, wrong is wrong, absent is one sentence."""

import asyncio
import base64
import json
import pickle
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from data.benchmarks.aime import Aime
from data.benchmarks.gpqa import Gpqa, letter_in
from data.benchmarks.held_out import HeldOut
from data.benchmarks.judging import Test as Case
from data.benchmarks.judging import equal, passes
from data.benchmarks.livecodebench import LIMITS, LiveCodeBench
from data.benchmarks.official import Tau2
from data.benchmarks.registry import Place, open_suite, wanted
from data.catalog import Catalog
from sandbox.opening import open_sandbox
from spade.attempts import Attempt, Prompt
from spade.documents import Document
from spade.environments import Environment
from spade.errors import Abort
from spade.evaluating import Suite, Talk
from spade.evaluation import Mark, Question, SampleOutcome
from spade.hints import Hint
from spade.messages import Message, Role, Sampling
from spade.ports import Sandbox
from spade.settings import SandboxSettings
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from tests.data.records import said
from tests.fakes import RuleModel, ScriptedModel, dial_lock

T = TypeVar("T")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox(SandboxSettings(kind="local")) as found:
        yield found


def run(coroutine: Awaitable[T]) -> T:
    async def awaited() -> T:
        return await coroutine

    return asyncio.run(awaited())


def marked(suite: Suite, *replies: str, group: str = "") -> list[tuple[Question, Mark]]:
    """One reply a question, in turn."""

    async def taken() -> list[tuple[Question, Mark]]:
        questions = [q for q in await suite.questions(None, 0) if not group or q.group == group]
        talks = [Talk(ScriptedModel(reply), suite.protocol, 0) for reply in replies]
        return [(q, await suite.attempt(q, talk)) for q, talk in zip(questions, talks, strict=True)]

    return asyncio.run(taken())


@pytest.mark.parametrize(
    ("gold", "given", "same"),
    [
        ("204", "204", True),
        ("\\frac{1}{2}", "0.5", True),
        ("x^2+1", "1 + x^{2}", True),
        ("204", "205", False),
        ("204", "I do not know", False),
        ("204", "9" * 5000, False),
        ("2", "(((((" * 300, False),
    ],
)
def test_equality_is_that_of_mathematics(sandbox: Sandbox, gold: str, given: str, same: bool) -> None:
    assert run(equal(sandbox, gold, given)) is same


@pytest.mark.parametrize(
    ("code", "passed", "why"),
    [
        ("a, b = map(int, input().split())\nprint(a + b)", True, "right"),
        ("import sys\nprint(sum(map(int, sys.stdin.read().split())))", True, "right"),
        ("import sys\na, b = map(int, sys.stdin.buffer.readline().split())\nsys.stdout.write(f'{a+b}')", True, "right"),
        (
            "def main():\n    print(sum(map(int, input().split())))\nif __name__ == '__main__':\n    main()",
            True,
            "right",
        ),
        ("print(4)", False, "wrong answer"),
        ("import sys\nsys.exit(1)", False, "wrong answer"),
        ("print(1", False, "SyntaxError"),
        ("print(open('/etc/passwd').read())", False, "Error"),
        ("import socket\nsocket.create_connection(('127.0.0.1', 80))", False, "Error"),
    ],
)
def test_programs_run_in_the_sandbox(sandbox: Sandbox, code: str, passed: bool, why: str) -> None:
    """By standard input; nothing of the host is within reach."""
    right, words = run(passes(sandbox, code, Case("2 3\n", "5\n"), LIMITS))
    assert right is passed
    assert why in words


def test_a_program_that_hangs_fails_its_test_alone(sandbox: Sandbox) -> None:
    from spade.ports import Limits

    assert run(passes(sandbox, "while True: pass", Case("", ""), Limits(1.0, 1.0)))[0] is False
    assert run(passes(sandbox, "print(1)", Case("", "1"), LIMITS))[0] is True


def test_functions_are_called_with_json(sandbox: Sandbox) -> None:
    code = (
        "class Solution:\n    def twice(self, xs: List[int], k: int) -> List[int]:\n        return [k * x for x in xs]"
    )
    assert run(passes(sandbox, code, Case("[1, 2]\n2", "[2, 4]", "twice"), LIMITS))[0] is True
    assert run(passes(sandbox, code, Case("[1, 2]\n3", "[2, 4]", "twice"), LIMITS))[0] is False


def test_large_inputs_go_in_pieces(sandbox: Sandbox) -> None:
    numbers = " ".join(map(str, range(40_000)))
    assert run(passes(sandbox, "print(sum(map(int, input().split())))", Case(numbers, "799980000"), LIMITS))[0]


def test_aime_reads_common_forms(sandbox: Sandbox, tmp_path: Path) -> None:
    rows = [
        {"problem": "How many?", "answer": 204},
        {"prompt": [{"role": "user", "content": "And now?"}], "label": "073"},
        {"question": "Never answered?", "answer": "1"},
    ]
    (tmp_path / "aime-2025.jsonl").write_text("\n".join(map(json.dumps, rows)))
    suite = Aime("2025", tmp_path, "", sandbox)
    marks = [m for _, m in marked(suite, "<think>\\boxed{1}</think>So \\boxed{204}.", "\\boxed{73}", "Hard to say.")]
    assert [m.score for m in marks] == [1.0, 1.0, 0.0]
    assert marks[2].outcome is SampleOutcome.NO_ANSWER


def test_gpqa_shuffles_choices_and_reads_letters(tmp_path: Path) -> None:
    fields = ["Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"]
    lines = [",".join(fields), *(f'"Which, {n}?",right,"wrong 1","wrong 2","wrong 3"' for n in range(12))]
    (tmp_path / "gpqa_diamond.csv").write_text("\n".join(lines))
    suite = Gpqa(tmp_path, "")
    found = marked(suite, *["\\boxed{A}"] * 12)
    assert {q.content["answer"] for q, _ in found} == set("ABCD")
    for question, mark in found:
        right = next(line for line in question.content["prompt"].splitlines() if line.endswith(") right"))
        assert mark.score == float(right.startswith("(A)"))


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("\\boxed{C}", "C"),
        ("\\boxed{\\text{(B)}}", "B"),
        ("\\boxed{D. water}", "D"),
        ("The answer is (B).", "B"),
        ("**Answer: A**", "A"),
        ("<think>The answer is A.</think> The answer is D", "D"),
        ("A or B, who knows", ""),
        ("\\boxed{Apples}", ""),
    ],
)
def test_letters(reply: str, letter: str) -> None:
    assert letter_in(reply) == letter


def _row(packed: bool, evil: bool = False) -> dict[str, Any]:
    private = json.dumps([{"input": "5 6", "output": "11", "testtype": "stdin"}])
    value: Any = print if evil else private
    as_published = base64.b64encode(zlib.compress(pickle.dumps(value))).decode()
    return {
        "question_content": "Add two numbers.",
        "question_id": "abc1",
        "difficulty": "easy",
        "starter_code": "",
        "metadata": "{}",
        "public_test_cases": json.dumps([{"input": "1 2", "output": "3", "testtype": "stdin"}]),
        "private_test_cases": as_published if packed else private,
    }


def test_livecodebench_runs_hidden_tests(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "test6.jsonl").write_text("\n".join(json.dumps(_row(packed)) for packed in (True, False, True)))
    suite = LiveCodeBench(tmp_path, "", sandbox)
    right = "```python\nprint(sum(map(int, input().split())))\n```"
    found = marked(suite, f"First ```python\nprint(3)\n``` no: {right}", "```python\nprint(3)\n```", "No idea.")
    assert [(m.score, m.outcome) for _, m in found] == [
        (1.0, SampleOutcome.SCORED),
        (0.0, SampleOutcome.SCORED),
        (0.0, SampleOutcome.NO_ANSWER),
    ]
    assert found[1][1].detail == "test 2: wrong answer"


def test_a_packed_test_that_would_run_code_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "test6.jsonl").write_text(json.dumps(_row(packed=True, evil=True)))
    with pytest.raises(Abort, match=r"names builtins\.print"):
        marked(LiveCodeBench(tmp_path, "", sandbox), "x")


def test_tau2_results_are_those_of_its_runner(tmp_path: Path) -> None:
    simulations = [
        {"task_id": "7", "trial": 1, "reward_info": {"reward": 0.0}, "termination_reason": "max_steps"},
        {"task_id": "7", "trial": 0, "reward_info": {"reward": 1.0}, "termination_reason": "agent_stop"},
        {"task_id": "8", "trial": 0, "reward_info": None, "termination_reason": "too_many_errors"},
    ]
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"info": {"agent_info": {"llm": "openai/scripted"}}, "simulations": simulations}))
    suite = Tau2(str(file))
    assert suite.protocol.samples == 2
    seven, _ = run(suite.questions(None, 0))
    marks = [run(suite.attempt(seven, Talk(ScriptedModel(""), suite.protocol, 0, number))) for number in (0, 1)]
    assert [(m.score, m.detail) for m in marks] == [(1.0, "agent_stop"), (0.0, "max_steps")]
    with pytest.raises(Abort, match="was made by openai/scripted, not by rule"):
        run(suite.attempt(seven, Talk(RuleModel(), suite.protocol, 0)))


Making = Callable[[Place], Suite]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("aime:year=2026", r"AIME 2026 is not on this machine: .*aime-2026.jsonl is no file. Put there a JSONL file"),
        ("aime:year=1999", "aime has no year '1999'"),
        ("gpqa-diamond", r"Put there gpqa_diamond.csv as its authors publish it"),
        ("livecodebench", r"Put there test6.jsonl of livecodebench/code_generation_lite"),
        ("tau2", "no result file .none was named.. Install it from its repository"),
        (
            "acebench",
            r"no data_agent_multi_step_score.json in .no folder was named.\. Run generate.py and eval_main",
        ),
        ("held-out", "no accepted environment is held out with share=0.1"),
        ("held-out:share=many", "share=many is no number"),
        ("held-out:share=2", "held-out has no share"),
    ],
)
def test_what_is_absent_is_refused_in_one_sentence(sandbox: Sandbox, tmp_path: Path, text: str, sentence: str) -> None:
    place = Place(tmp_path, tmp_path, Catalog(tmp_path), sandbox)
    with pytest.raises(Abort, match=sentence):
        run(open_suite(wanted(text), place).questions(1, 0))


def _stored(catalog: Catalog, count: int) -> None:
    """Accepted dial locks, each from a document of its own and with a hint."""
    cycle = Cycle("0" * 12, 0, 0)
    catalog.append("cycles", [cycle])
    for number in range(count):
        document = Document(f"A lock has {number} dials.")
        slot = Slot(cycle.cycle_id, number, Setting.GAMES, Skill.LOGICAL_DEDUCTION, document.document_id, 1)
        prompt = Prompt(Role.DESIGNER, (Message("user", f"Design {number}"),), "design", "abc")
        code = f"{dial_lock(2, 20)}\n\nSERIAL = [{', '.join('0' * number)}]"
        env = Environment(code, Setting.GAMES, Skill.LOGICAL_DEDUCTION, f"Lock {number}")
        catalog.append("documents", [document])
        catalog.append("slots", [slot])
        catalog.append("prompts", [prompt])
        catalog.append("attempts", [Attempt(slot.slot_id, 0, prompt.prompt_id, said(code), Sampling(), env.env_id, ())])
        catalog.append("environments", [env])
        catalog.append("hints", [Hint(env.env_id, 0, "Halve each dial.", prompt.prompt_id, said("Halve."), ())])


def test_held_out_environments_are_played_in_both_arms(sandbox: Sandbox, tmp_path: Path) -> None:
    """The hint is the only difference: same environments, same seeds; the split is that of exports."""
    catalog = Catalog(tmp_path)
    _stored(catalog, 8)
    suite = HeldOut(catalog, sandbox, share=0.5)
    questions = run(suite.questions(None, 0))
    plain, hinted = ([q for q in questions if q.group == arm] for arm in ("plain", "hinted"))
    assert 0 < len(plain) == len(hinted) < 8 * 4
    assert [(q.content["env_id"], q.content["seed"]) for q in plain] == [
        (q.content["env_id"], q.content["seed"]) for q in hinted
    ]
    model = ScriptedModel("\\boxed{0 5}")
    mark = run(suite.attempt(hinted[0], Talk(model, suite.protocol, 0)))
    assert model.requests[0].messages[1].content.startswith("Hint: Halve each dial.")
    assert mark.outcome in (SampleOutcome.SCORED, SampleOutcome.CUT_SHORT)
    assert mark.score is not None
