"""Attacks: each ends as it must, leaves no process, no memory and no secret behind, and the server still serves."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.bundles import ask_many
from sandbox.games import LocalGame
from sandbox.local import LocalSandbox
from sandbox.waiting import finish
from sandbox.zygotes import pid_behind
from spade.outcomes import CallOutcome, Reply
from spade.ports import Ask, Limits
from tests.sandbox.hostile import ELSEWHERE, LIMITS, SHORT_STEPS, Hostile, everything
from tests.sandbox.processes import all_gone, descendants, resident_bytes
from tests.sandbox.programs import COUNTING

SECRET = "the-secret-of-the-host-7f3a"
IN_MEMORY = bytes(SECRET, "utf-8") * 3
ROOM = 16 << 20
"""Bytes by which the host may grow over one attack."""
PATIENT = replace(LIMITS, wall_seconds=3.0)
"""For what must end otherwise than by the clock."""


@pytest.fixture(scope="module")
def secret() -> Iterator[Path]:
    """A file that anybody may read, and the same text in the host's environment and memory."""
    os.environ["SPADE_TEST_SECRET"] = SECRET
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        path.write_text(SECRET)
        os.chmod(folder, 0o755)
        yield path
    del os.environ["SPADE_TEST_SECRET"]


@pytest.fixture(scope="module")
def hosting(local: LocalSandbox) -> Iterator[LocalSandbox]:
    """A sandbox without a pool, so that every process below its server is one we asked for."""
    core = LocalSandbox(local.tier, warm=0)
    core.zygote()
    yield core
    core.close()


def opened(core: LocalSandbox, program: str, limits: Limits = LIMITS) -> LocalGame:
    reply, game = core.open(program, limits, guarded=False)
    assert game is not None, reply
    return game


def still_serves(core: LocalSandbox) -> bool:
    game = opened(core, COUNTING)
    game.reset(1)
    reply = game.steps(["next"] * 5)
    game.close()
    return sum(step.reward for step in reply.steps) == 1.0


def played(game: LocalGame, hostile: Hostile, action: str) -> Reply:
    if hostile.bundled:
        return finish(ask_many(game, [Ask("steps", actions=(action,))]))[-1]
    return game.steps([action]) if hostile.batched else game.step(action)


def said(reply: Reply) -> str:
    return " ".join([reply.detail, reply.observation, *(step.observation for step in reply.steps)])


@pytest.mark.parametrize("hostile", everything(), ids=str)
def test_an_attack_fails(hostile: Hostile, hosting: LocalSandbox, secret: Path) -> None:
    server = hosting.zygote().process.pid
    calm = descendants(server)
    before = resident_bytes()
    game = opened(hosting, hostile.program, LIMITS if CallOutcome.ENV_TIMEOUT in hostile.ends else PATIENT)
    child = pid_behind(game.child.pidfd)
    reply = game.reset(0)
    if reply.ok:
        reply = played(game, hostile, str(secret))
    again = game.step(str(secret))
    game.close()

    assert reply.outcome in hostile.ends, reply
    assert "broke out" not in said(reply) + said(again)
    assert SECRET not in said(reply) + said(again)
    assert secret.read_text() == SECRET
    assert all_gone({child}, 1.0)
    assert descendants(server) == calm
    assert still_serves(hosting)
    assert resident_bytes() - before < ROOM


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_loop_anywhere_ends_on_time(where: str, hosting: LocalSandbox) -> None:
    reply, game = hosting.open(ELSEWHERE[where], LIMITS)
    if game is not None:
        reply = game.reset(0)
        reply = game.solution() if reply.ok else reply
        game.close()

    assert reply.outcome is CallOutcome.ENV_TIMEOUT
    assert still_serves(hosting)


def test_many_short_steps_end_with_the_processor_budget(hosting: LocalSandbox) -> None:
    game = opened(hosting, SHORT_STEPS, Limits(wall_seconds=30.0, cpu_seconds=1.0, memory_mb=128))
    game.reset(0)
    replies = [game.step("x") for _ in range(200)]
    game.close()

    assert replies[0].ok
    assert replies[-1].outcome is CallOutcome.ENV_TIMEOUT
    assert "CPU" in replies[-1].detail


def test_there_are_enough_attacks() -> None:
    names = [hostile.name for hostile in everything()]

    assert len(names) == len(set(names)) >= 60
    assert IN_MEMORY
