"""Marking in the sandbox: mathematical equality by `math_verify`, and programs against tests; each can be killed."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from spade.errors import Retry
from spade.evaluating import MarkerError
from spade.outcomes import CallOutcome, Reply
from spade.ports import Limits, Sandbox

MATHEMATICS = Limits(wall_seconds=20.0, cpu_seconds=20.0, memory_mb=512)
CHUNK = 40_000
"""Characters of a test that go into one action."""
MOST_ANSWER = 4_000
"""A longer answer is none to a question of mathematics; parsing it would only take time."""


@cache
def _program(name: str) -> str:
    return files("data.benchmarks.programs").joinpath(f"{name}.py.txt").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a program: text for standard input and what it must print, or JSON arguments, one a line, and the
    JSON value that the named function must return."""

    input: str
    output: str
    function: str = ""


async def equal(sandbox: Sandbox, gold: str, given: str) -> bool:
    """Whether two answers are the same in mathematics. An answer that cannot be compared in time is not the same.

    Raises `MarkerError` when the sandbox is lost."""
    if len(given) > MOST_ANSWER:
        return False
    reply = await _played(sandbox, _program("equality"), [json.dumps([gold, given])], MATHEMATICS)
    return reply.ok and reply.steps[-1].reward == 1.0


async def passes(sandbox: Sandbox, code: str, test: Test, limits: Limits) -> tuple[bool, str]:
    """Whether a program passes a test, and what became of it. Raises `MarkerError` when the sandbox is lost."""
    values = {"code": code, "function": test.function, "input": test.input, "output": test.output}
    text = json.dumps(values)
    parts = [f"+{text[start : start + CHUNK]}" for start in range(0, len(text), CHUNK)]
    reply = await _played(sandbox, _program("tests"), [*parts, "!"], limits)
    if not reply.ok:
        return False, f"{reply.outcome.value}: {reply.detail}"
    return reply.steps[-1].reward == 1.0, reply.steps[-1].observation


async def _played(sandbox: Sandbox, program: str, actions: list[str], limits: Limits) -> Reply:
    """The reply to the last action, or to the first that failed."""
    try:
        opened = await sandbox.open(program, limits)
        if opened.game is None:
            raise MarkerError(f"the sandbox did not open: {opened.reply.detail}")
        try:
            reply = await opened.game.reset(0)
            for action in actions:
                reply = await opened.game.step(action)
                if not reply.ok:
                    break
        finally:
            await opened.game.close()
    except Retry as error:
        raise MarkerError(str(error)) from error
    if reply.outcome is CallOutcome.SANDBOX_LOST:
        raise MarkerError(reply.detail)
    return reply
