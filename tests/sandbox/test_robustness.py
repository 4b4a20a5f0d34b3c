"""Servers die, hosts fork, threads come and go: games go on, or end by an outcome that says whose fault it is."""

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from sandbox.facade import AsyncSandbox
from sandbox.local import LocalSandbox
from sandbox.zygotes import pid_behind
from spade.outcomes import CallOutcome
from spade.ports import IsolationLevel, Limits
from tests.sandbox.processes import all_gone, descendants
from tests.sandbox.programs import COUNTING, running

LIMITS = Limits(wall_seconds=5.0)


def play(core: LocalSandbox) -> float:
    reply, game = core.open(COUNTING, LIMITS)
    assert game is not None, reply
    game.reset(1)
    total = sum(step.reward for step in game.steps(["next"] * 5).steps)
    game.close()
    return total


def test_a_dead_fork_server_is_replaced(local: LocalSandbox) -> None:
    reply, game = local.open(COUNTING, LIMITS)
    assert game is not None, reply
    child = pid_behind(game.child.pidfd)
    os.kill(local.zygote().host_pid, signal.SIGKILL)

    assert all_gone({child}, 2.0)
    assert game.reset(0).outcome is CallOutcome.SANDBOX_LOST
    assert play(local) == 1.0
    game.close()


def test_a_fork_server_that_dies_takes_busy_programs_along(local: LocalSandbox) -> None:
    reply, game = local.open(running(in_step="while True: pass"), LIMITS)
    assert game is not None, reply
    game.reset(0)
    child = pid_behind(game.child.pidfd)
    killer = threading.Timer(0.2, os.kill, (local.zygote().host_pid, signal.SIGKILL))
    killer.start()

    assert game.step("x").outcome is CallOutcome.SANDBOX_LOST
    assert all_gone({child}, 2.0)
    killer.join()
    game.close()


def test_threads_share_a_sandbox(local: LocalSandbox) -> None:
    """A thread that started the fork server may end; the server stays."""
    totals: list[float] = []
    first = threading.Thread(target=lambda: totals.append(play(local)))
    first.start()
    first.join()
    rest = [threading.Thread(target=lambda: totals.append(play(local))) for _ in range(8)]
    for thread in rest:
        thread.start()
    for thread in rest:
        thread.join()

    assert totals == [1.0] * 9


def test_event_loops_in_several_threads_share_a_sandbox(local: LocalSandbox) -> None:
    sandbox = AsyncSandbox(local, IsolationLevel.CONFINED, {})
    totals: list[float] = []

    async def one() -> float:
        opened = await sandbox.open(COUNTING, LIMITS)
        assert opened.game is not None
        await opened.game.reset(1)
        reply = await opened.game.steps(["next"] * 5)
        await opened.game.close()
        return sum(step.reward for step in reply.steps)

    async def several() -> list[float]:
        return await asyncio.gather(*[one() for _ in range(5)])

    threads = [threading.Thread(target=lambda: totals.extend(asyncio.run(several()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert totals == [1.0] * 20


def test_a_forked_worker_has_a_sandbox_of_its_own(local: LocalSandbox) -> None:
    reply, game = local.open(COUNTING, LIMITS)
    assert game is not None, reply
    game.reset(1)
    pid = os.fork()
    if pid == 0:
        lost = game.step("next").outcome is CallOutcome.SANDBOX_LOST
        os._exit(0 if lost and play(local) == 1.0 else 1)
    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert game.step("next").ok
    game.close()


def test_a_program_that_dies_idle_is_noticed_at_the_next_call(local: LocalSandbox) -> None:
    reply, game = local.open(COUNTING, LIMITS)
    assert game is not None, reply
    os.kill(pid_behind(game.child.pidfd), signal.SIGKILL)

    assert game.reset(0).outcome is CallOutcome.ENV_MEMORY
    game.close()


@pytest.mark.parametrize("warm", [0, 3])
def test_nothing_is_left_after_closing(warm: int, local: LocalSandbox) -> None:
    core = LocalSandbox(local.tier, warm=warm)
    play(core)
    server = core.zygote().process.pid
    core.close()

    assert all_gone({server}, 2.0)


def test_waiting_for_a_processor_is_not_held_against_a_program(local: LocalSandbox) -> None:
    """Five programs that need two fifths of their wall budget as CPU time share one core; none is killed for it."""
    core = min(os.sched_getaffinity(0))
    busy = "from resource import getrusage\nwhile sum(getrusage(0)[:2]) < 0.2: sum(range(10_000))"
    limits = Limits(wall_seconds=0.5, cpu_seconds=20)
    opened = [local.open(running(in_step=busy), limits, guarded=False) for _ in range(5)]
    games = [game for _, game in opened if game is not None]
    for game in games:
        game.reset(0)
        os.sched_setaffinity(pid_behind(game.child.pidfd), {core})
    outcomes: list[CallOutcome] = []
    threads = [threading.Thread(target=lambda game=game: outcomes.append(game.step("x").outcome)) for game in games]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for game in games:
        game.close()

    assert outcomes == [CallOutcome.OK] * 5


def test_a_killed_host_leaves_nothing(local: LocalSandbox) -> None:
    """Kill -9 during a hundred busy games: no program and no server survives it by more than a second."""
    command = [sys.executable, "-m", "tests.sandbox.busy_host", local.tier, "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "busy\n"
        family = descendants(host.pid)
        host.kill()
        gone = all_gone(family, 1.0)

    assert len(family) > 100
    assert gone
