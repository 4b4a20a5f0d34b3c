"""What every sandbox promises, whatever holds the program in."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator

import pytest

from spade.outcomes import CallOutcome, Reply
from spade.ports import Game, IsolationLevel, Limits, Sandbox
from tests.sandbox.programs import COUNTING, STATE, returning, running

QUICK = Limits(wall_seconds=1.0, cpu_seconds=3.0, memory_mb=128)
HASTY = Limits(wall_seconds=0.3, cpu_seconds=3.0, memory_mb=128)


@contextlib.asynccontextmanager
async def playing(
    sandbox: Sandbox, program: str, limits: Limits = QUICK, *, hash_seed: int = 0, seed: int = 0
) -> AsyncIterator[Game]:
    opened = await sandbox.open(program, limits, hash_seed=hash_seed)
    assert opened.reply.ok, opened.reply.detail
    assert opened.game is not None
    try:
        assert (await opened.game.reset(seed)).ok
        yield opened.game
    finally:
        await opened.game.close()


async def transcript(sandbox: Sandbox, program: str, *, hash_seed: int = 0) -> list[str]:
    opened = await sandbox.open(program, QUICK, hash_seed=hash_seed)
    assert opened.game is not None
    seen = [(await opened.game.reset(7)).observation]
    for _ in range(3):
        seen += [step.observation for step in (await opened.game.step("x")).steps]
    await opened.game.close()
    return seen


async def test_a_game_is_played_to_its_end(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        actions = (await game.solution()).actions
        rewards = [(await game.step(action)).steps[0].reward for action in actions]

        assert math.isclose(sum(rewards), 1.0)


async def test_a_batch_stops_at_the_first_end(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        reply = await game.steps(["a", "stop", "c"])

        assert [step.observation for step in reply.steps] == ["1: a", "Stopped."]
        assert reply.steps[-1].truncated


async def test_a_batch_that_fails_keeps_the_steps_before(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        reply = await game.steps(["a", "crash", "c"])

        assert reply.outcome is CallOutcome.ENV_ERROR
        assert [step.observation for step in reply.steps] == ["1: a"]
        assert "ZeroDivisionError" in reply.detail


async def test_a_batch_is_played_like_single_steps(sandbox: Sandbox) -> None:
    long = returning(step='("é" * 3000 + action, self.calls / 7, False, False, {})')
    actions = [f"action {number} ☃" for number in range(600)]
    async with playing(sandbox, long) as game:
        batch = await game.steps(actions)
    async with playing(sandbox, long) as game:
        single = [(await game.step(action)).steps[0] for action in actions]

    assert batch.ok
    assert list(batch.steps) == single


async def test_an_empty_batch_is_no_step(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        assert await game.steps([]) == Reply(CallOutcome.OK, seconds=pytest.approx(0, abs=1))


async def test_a_program_that_raised_can_be_asked_again(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        raised = await game.step("crash")
        again = await game.step("next")

        assert raised.outcome is CallOutcome.ENV_ERROR
        assert raised.detail == "ZeroDivisionError: division by zero (line 18: return 1 / 0)"
        assert again.ok


async def test_a_replay_matches_whatever_the_program_reads(sandbox: Sandbox) -> None:
    """Unseeded draws, the entropy source, the clock and hashes are functions of the hash seed alone."""
    first = await transcript(sandbox, STATE)
    second = await transcript(sandbox, STATE)
    other = await transcript(sandbox, STATE, hash_seed=1)

    assert first == second
    words, others = first[0].split(), other[0].split()
    assert all(mine != theirs for mine, theirs in zip(words, others, strict=True))


async def test_two_hash_seeds_order_sets_differently(sandbox: Sandbox) -> None:
    ordering = returning(reset='("".join({*"abcdefghij"}), {})')

    assert await transcript(sandbox, ordering) != await transcript(sandbox, ordering, hash_seed=1)


@pytest.mark.parametrize(
    ("program", "outcome", "words"),
    [
        ("x = (", CallOutcome.ENV_ERROR, "SyntaxError: '(' was never closed (line 1"),
        ("x = 1", CallOutcome.ENV_PROTOCOL, "exactly one class"),
        ("class AEnv: pass\nclass BEnv: pass", CallOutcome.ENV_PROTOCOL, "found AEnv, BEnv"),
        ("import os", CallOutcome.ENV_ERROR, "may not import 'os'"),
        ("from os import path", CallOutcome.ENV_ERROR, "may not import 'os'"),
        ("open('/etc/passwd')", CallOutcome.ENV_ERROR, "may not call open()"),
        ("class AEnv:\n  def __init__(self): raise KeyError('no')", CallOutcome.ENV_ERROR, "KeyError: 'no' (line 2"),
        ("while True: pass", CallOutcome.ENV_TIMEOUT, "wall time"),
        ("x = bytearray(10**10)", CallOutcome.ENV_MEMORY, "MemoryError"),
        ("x" * 70_000, CallOutcome.ENV_PROTOCOL, "70000 bytes"),
        ("x = '\0'", CallOutcome.ENV_PROTOCOL, "NUL"),
        ("x = '\ud800'", CallOutcome.ENV_PROTOCOL, "not valid UTF-8"),
    ],
)
async def test_a_program_that_cannot_be_loaded_says_why(
    sandbox: Sandbox, program: str, outcome: CallOutcome, words: str
) -> None:
    opened = await sandbox.open(program, HASTY)

    assert opened.game is None
    assert (opened.reply.outcome, words in opened.reply.detail) == (outcome, True), opened.reply


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("None", "not NoneType"),
        ('("", 0.0, False, False)', "not a tuple of 4"),
        ("(5, 0.0, False, False, {})", "observation must be a str, not int"),
        ('("\\ud800", 0.0, False, False, {})', "surrogate"),
        ('("x" * 70_000, 0.0, False, False, {})', "70000 bytes"),
        ('("", True, False, False, {})', "not bool"),
        ('("", "1", False, False, {})', "not str"),
        ('("", float("nan"), False, False, {})', "must be finite"),
        ('("", 10**400, False, False, {})', "too large"),
        ('("", 0.0, 1, False, {})', "must be bool"),
        ('("", 0.0, False, None, {})', "must be bool"),
        ('("", 0.0, False, False, None)', "must be a dict"),
    ],
)
async def test_an_answer_that_breaks_the_contract_ends_the_game(sandbox: Sandbox, step: str, words: str) -> None:
    for batched in (False, True):
        async with playing(sandbox, returning(step=step)) as game:
            reply = await (game.steps(["x"]) if batched else game.step("x"))
            again = await game.step("x")

            assert (reply.outcome, words in reply.detail) == (CallOutcome.ENV_PROTOCOL, True), reply
            assert again.outcome is CallOutcome.ENV_PROTOCOL


@pytest.mark.parametrize(
    ("method", "value", "words"),
    [
        ("reset", '"text"', "reset must return (observation, info), not str"),
        ("reset", '("text", [])', "must be a dict"),
        ("solution", '("a",)', "not a tuple of 1"),
        ("solution", "[1]", "not list"),
        ("solution", '["x"] * 5000', "5000 actions"),
        ("solution", '["\\ud800"]', "surrogate"),
    ],
)
async def test_reset_and_solution_are_checked_too(sandbox: Sandbox, method: str, value: str, words: str) -> None:
    opened = await sandbox.open(returning(**{method: value}), QUICK)
    assert opened.game is not None
    reply = await (opened.game.reset(0) if method == "reset" else opened.game.solution())
    await opened.game.close()

    assert (reply.outcome, words in reply.detail) == (CallOutcome.ENV_PROTOCOL, True), reply


async def test_integers_are_rewards(sandbox: Sandbox) -> None:
    async with playing(sandbox, returning(step='("", 1, False, False, {})')) as game:
        assert (await game.step("x")).steps[0].reward == 1.0


@pytest.mark.parametrize("action", ["", "\ud800", "\0", "x" * 1_000_000, "é" * 100_000, "\u202e"])
async def test_any_text_is_an_action(sandbox: Sandbox, action: str) -> None:
    async with playing(sandbox, returning(step="(str(len(action)), 0.0, False, False, {})")) as game:
        reply = await game.step(action)

        assert reply.ok, reply
        assert 0 <= int(reply.steps[0].observation) <= 65_536
        assert (await game.steps([action])).ok


async def test_a_hang_ends_in_time_and_blocks_nobody(sandbox: Sandbox) -> None:
    hanging = running(in_step="while True: pass")
    async with playing(sandbox, hanging, HASTY) as slow, playing(sandbox, COUNTING) as quick:
        waiting = asyncio.ensure_future(slow.step("x"))
        played = 0
        while not waiting.done():
            assert (await quick.reset(0)).ok
            played += 1
            await asyncio.sleep(0)
        reply = await waiting

        assert reply.outcome is CallOutcome.ENV_TIMEOUT
        assert played > 3
        assert (await slow.step("x")).outcome is CallOutcome.ENV_TIMEOUT


async def test_a_cancelled_call_ends_its_game_only(sandbox: Sandbox) -> None:
    async with playing(sandbox, running(in_step="while True: pass"), QUICK) as game:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(game.step("x"), 0.1)

        assert (await game.step("x")).outcome is CallOutcome.SANDBOX_LOST
    async with playing(sandbox, COUNTING) as game:
        assert (await game.step("next")).ok


async def test_closing_twice_is_fine(sandbox: Sandbox) -> None:
    async with playing(sandbox, COUNTING) as game:
        await game.close()
        await game.close()

        assert (await game.step("x")).outcome is CallOutcome.SANDBOX_LOST


async def test_games_do_not_see_each_other(sandbox: Sandbox) -> None:
    """Nothing that one program changes in its interpreter is there in the next."""
    changing = running(at_import="import math, json\nmath.pi = 3\njson.dumps = None", in_step="pass")
    async with playing(sandbox, changing):
        pass
    async with playing(sandbox, returning(step='(f"{math.pi:.5f} {json.dumps(1)}", 0.0, False, False, {})')) as game:
        assert (await game.step("x")).steps[0].observation == "3.14159 1"


async def test_many_games_run_at_once(sandbox: Sandbox) -> None:
    async def play(seed: int) -> float:
        async with playing(sandbox, COUNTING, seed=seed) as game:
            return sum([step.reward for step in (await game.steps(["next"] * 5)).steps])

    assert await asyncio.gather(*map(play, range(150))) == [1.0] * 150


def test_the_report_says_what_holds(sandbox: Sandbox) -> None:
    assert sandbox.level >= IsolationLevel.CONFINED
    report = sandbox.report()

    assert report["level"] == sandbox.level.name.lower()
    assert "seccomp" in report["properties"]["no network"]
