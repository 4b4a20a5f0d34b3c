"""Rented machines, through E2B's real SDK: made with care, shared, kept alive, replaced when they die, never left."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.cloud import machine as machines
from sandbox.cloud.backend import RemoteSandbox
from sandbox.cloud.dealing import Pace
from sandbox.opening import open_sandbox
from spade.errors import Abort, Retry
from spade.outcomes import CallOutcome
from spade.ports import Ask, BundleGame, Game, IsolationLevel, Limits, Sandbox
from spade.settings import SandboxSettings
from tests.fakes_e2b import FakeE2B
from tests.sandbox.processes import all_gone, descendants
from tests.sandbox.programs import COUNTING, returning, running

LIMITS = Limits(wall_seconds=5.0)
HURRIED = Pace(beat=0.2, silence=1.5, jitter=0.01)
ECHO = returning(step='(f"{self.calls} {action}", 0.5, False, False, {})', reset='(f"seed {seed}", {})')


@contextlib.contextmanager
def renting(pace: Pace = HURRIED, **settings: Any) -> Iterator[RemoteSandbox]:
    sandbox = RemoteSandbox(SandboxSettings(kind="e2b", **settings), pace)
    try:
        yield sandbox
    finally:
        sandbox.close()


async def opened(sandbox: Sandbox, program: str = ECHO, limits: Limits = LIMITS) -> Game:
    answer = await sandbox.open(program, limits)
    assert answer.game is not None, answer.reply
    return answer.game


def newest(cloud: FakeE2B) -> str:
    return cloud.made[-1].number


def test_a_machine_is_made_with_tags_and_without_internet(cloud: FakeE2B) -> None:
    with renting(template="mine") as sandbox:
        body = cloud.made[-1].body
        assert sandbox.level is IsolationLevel.VM
        assert sandbox.report()["self_test"]["broke_out"] == {}

    assert body["allow_internet_access"] is False
    assert body["timeout"] == 300
    assert body["templateID"] == "mine"
    assert body["metadata"]["app"] == "spade-factory"
    assert body["metadata"]["run"]
    assert not cloud.machines


def test_a_run_that_fails_leaves_no_machine(cloud: FakeE2B) -> None:
    with contextlib.suppress(ZeroDivisionError), renting():
        alive = len(cloud.machines)
        _ = 1 / 0

    assert alive == 1
    assert not cloud.machines


def test_a_process_that_just_ends_leaves_no_machine(cloud: FakeE2B) -> None:
    program = (
        "from sandbox.cloud.backend import RemoteSandbox\nfrom spade.settings import SandboxSettings\n"
        "RemoteSandbox(SandboxSettings())\nraise SystemExit(7)"
    )
    before = len(cloud.made)
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | cloud.environment, timeout=60)

    assert done.returncode == 7
    assert len(cloud.made) == before + 1
    assert not cloud.machines


async def test_nothing_runs_on_after_a_machine_was_killed(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        game = await opened(sandbox, running(in_step="while True: pass"))
        await game.reset(0)
        calling = asyncio.ensure_future(game.step("x"))
        await asyncio.sleep(0.2)
        family = set().union(*(descendants(pid) | {pid} for pid in cloud.made[-1].processes))
        assert len(family) > 2

    assert (await calling).outcome is CallOutcome.SANDBOX_LOST
    assert all_gone(family, 5.0)


async def test_orphans_are_swept_and_only_those(cloud: FakeE2B) -> None:
    def left(seconds: float, **tags: str) -> str:
        return cloud.make({"templateID": "base", "timeout": seconds, "metadata": tags}).number

    orphan, alive = left(100, app="spade-factory", run="1"), left(290, app="spade-factory", run="2")
    other = left(100, app="another")
    with renting():
        for _ in range(100):
            if orphan not in cloud.machines:
                break
            await asyncio.sleep(0.02)
        kept = {alive, other} <= set(cloud.machines)
    for number in (alive, other):
        cloud.kill(number)

    assert kept
    assert not cloud.machines


async def test_a_machine_lives_as_long_as_it_is_wanted(cloud: FakeE2B) -> None:
    with renting(Pace(lifetime=2, beat=0.2)) as sandbox:
        game = await opened(sandbox)
        await game.reset(1)
        await asyncio.sleep(3.0)
        assert (await game.step("x")).ok
        assert cloud.made[-1].renewals >= 4
        assert newest(cloud) in cloud.machines


async def test_games_share_machines_and_more_are_made_as_they_are_needed(cloud: FakeE2B) -> None:
    before = len(cloud.made)
    with renting(games_per_machine=3, machines=2) as sandbox:
        games = [await opened(sandbox) for _ in range(10)]
        replies = await asyncio.gather(*[game.reset(seed) for seed, game in enumerate(games)])
        for game in games:
            await game.close()

        assert [reply.observation for reply in replies] == [f"seed {seed}" for seed in range(10)]
        assert len(cloud.made) - before == 2
        assert [machine.games for machine in sandbox.fleet.machines] == [0, 0]


async def test_few_machines_are_made_at_once(cloud: FakeE2B) -> None:
    cloud.most_making = 0
    pace = Pace(creations=2, jitter=0.01)
    with renting(pace, games_per_machine=1, machines=5) as sandbox:
        await asyncio.gather(*[opened(sandbox) for _ in range(5)])

        assert len(cloud.machines) == 5
        assert cloud.most_making <= 2


async def test_calls_of_many_games_travel_together(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        games = [await opened(sandbox) for _ in range(12)]
        await asyncio.gather(*[game.reset(0) for game in games])
        before = len(cloud.seen)
        for _ in range(5):
            await asyncio.gather(*[game.step("x") for game in games])

        assert len(cloud.seen) - before < 30  # of sixty calls


async def test_bundles_take_one_journey(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        game = await opened(sandbox)
        assert isinstance(game, BundleGame)
        before = len(cloud.seen)
        replies = await game.ask_many([Ask("reset", 5), Ask("steps", actions=("a",) * 40), Ask("step", actions=("b",))])

        assert len(cloud.seen) - before == 1
        assert [len(reply.steps) for reply in replies] == [0, 40, 1]
        assert replies[2].steps[0].observation == "41 b"


async def play(game: Game, cloud: FakeE2B, *, killing: set[int], silently: bool = False) -> list[str]:
    """Twelve steps; before those named the newest machine dies, or is cut off."""
    seen = [(await game.reset(7)).observation]
    for number in range(12):
        if number in killing and silently:
            cloud.made[-1].muted.set()
        elif number in killing:
            cloud.kill(newest(cloud))
        reply = await (game.steps([f"a{number}", f"b{number}"]) if number % 3 else game.step(f"a{number}"))
        assert reply.ok, reply
        seen += [step.observation for step in reply.steps]
    return seen


@pytest.mark.parametrize(("killing", "silently"), [({0}, False), ({5}, False), ({3, 8}, False), ({4}, True)])
async def test_a_game_goes_on_when_its_machine_dies(killing: set[int], silently: bool, cloud: FakeE2B) -> None:
    with renting() as sandbox:
        plain = await play(await opened(sandbox), cloud, killing=set())
        before = len(cloud.made)

        assert await play(await opened(sandbox), cloud, killing=killing, silently=silently) == plain
        assert len(cloud.made) - before == len(killing)
    assert not cloud.machines


async def test_a_call_under_way_is_played_again(cloud: FakeE2B) -> None:
    slow = running(in_step="import random\nfor _ in range(4_000_000): random.random()")
    with renting() as sandbox:
        game = await opened(sandbox, slow, Limits(wall_seconds=30.0))
        await game.reset(0)
        calling = asyncio.ensure_future(game.step("x"))
        await asyncio.sleep(0.1)
        assert not calling.done()
        cloud.kill(newest(cloud))
        reply = await calling

        assert reply.ok, reply
        assert reply.steps[0].observation == "done"


async def test_errors_are_replayed_too(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        game = await opened(sandbox, COUNTING)
        await game.reset(4)
        await game.steps(["next", "crash", "next"])
        await game.solution()
        cloud.kill(newest(cloud))
        reply = await game.step("next")

        assert reply.steps[0].observation == "3: next"


async def test_a_program_that_plays_differently_the_second_time_is_lost(cloud: FakeE2B) -> None:
    """Where objects lie in memory is what no sandbox controls."""
    with renting() as sandbox:
        game = await opened(sandbox, returning(step="(str(id(self)), 0.0, False, False, {})"))
        await game.reset(0)
        await game.step("x")
        cloud.kill(newest(cloud))
        reply = await game.step("x")

        assert reply.outcome is CallOutcome.SANDBOX_LOST
        assert "plays differently" in reply.detail


async def test_a_game_that_loses_every_machine_is_lost(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        game = await opened(sandbox)
        for _ in range(2):
            assert (await game.reset(0)).ok
            cloud.kill(newest(cloud))
        assert (await game.reset(0)).ok
        cloud.kill(newest(cloud))
        reply = await game.reset(0)

        assert reply.outcome is CallOutcome.SANDBOX_LOST
        assert (await game.reset(0)).outcome is CallOutcome.SANDBOX_LOST
        assert (await (await opened(sandbox)).reset(0)).ok


async def test_a_busy_cloud_is_asked_again(cloud: FakeE2B) -> None:
    cloud.refusals += [(429, "too many"), (503, "busy")]
    with renting() as sandbox:
        assert (await (await opened(sandbox)).reset(0)).ok
    assert not cloud.refusals


async def test_with_no_further_machine_games_share_those_there_are(cloud: FakeE2B) -> None:
    before = len(cloud.made)
    with renting(games_per_machine=1, machines=3) as sandbox:
        first = await opened(sandbox)
        cloud.refusals += [(429, "too many")] * 4  # more than the SDK tries
        second = await opened(sandbox)
        replies = [await game.reset(0) for game in (first, second)]

    assert [reply.ok for reply in replies] == [True, True]
    assert len(cloud.made) - before == 1
    cloud.refusals.clear()


@pytest.mark.parametrize(("status", "words"), [(400, "template"), (404, "template"), (403, "template")])
def test_what_can_never_work_is_refused_with_the_remedy(status: int, words: str, cloud: FakeE2B) -> None:
    cloud.refusals.append((status, "no such template"))
    with pytest.raises(Abort, match=words), renting():
        pass
    assert not cloud.machines


def test_a_wrong_key_is_refused(cloud: FakeE2B, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("E2B_API_KEY", "e2b_wrong")
    with pytest.raises(Abort, match="E2B_API_KEY"), renting():
        pass


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit('the template has Python 3.9')", "the template has Python 3.9"),
        ("print('Hello!')", "broke the protocol"),
        ("import time\nprint('x' * (1 << 23))\ntime.sleep(60)", "broke the protocol"),
        ("print('[' * 100_000)", "broke the protocol"),
        ("import time; time.sleep(60)", "not ready|nothing was heard"),
    ],
)
def test_a_machine_that_does_not_come_up_says_why(
    script: str, words: str, cloud: FakeE2B, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "START", script)
    with pytest.raises(Retry, match=words), renting(Pace(beat=0.2, silence=1.0, start=2.0, jitter=0.01, tries=2)):
        pass
    assert not cloud.machines


async def test_a_machine_that_lies_is_given_up(cloud: FakeE2B, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that took its machine over can answer anything; it cannot make us believe what no game may say."""
    lying = """
import json, sys
print(json.dumps({"ready": {"level": "namespaced"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    steps = [] if "open" in request else [["", float("nan"), False, False]]
    replies = [] if "close" in request else [["ok", "", steps, [], ""]]
    print(json.dumps({"id": request["id"], "replies": replies}), flush=True)
"""
    monkeypatch.setattr(machines, "START", lying)
    with renting() as sandbox:
        reply = await (await opened(sandbox)).step("x")

    assert reply.outcome is CallOutcome.SANDBOX_LOST
    assert "protocol" in reply.detail
    assert not cloud.machines


async def test_a_forked_copy_leaves_the_machines_alone(cloud: FakeE2B) -> None:
    with renting() as sandbox:
        game = await opened(sandbox)
        pid = os.fork()
        if pid == 0:
            sandbox.close()
            asyncio.set_event_loop(None)
            calling = game.reset(0)
            try:
                calling.send(None)  # type: ignore[attr-defined]
            except StopIteration as done:
                os._exit(0 if done.value.outcome is CallOutcome.SANDBOX_LOST else 1)
            os._exit(2)
        _, status = os.waitpid(pid, 0)

        assert os.waitstatus_to_exitcode(status) == 0
        assert (await game.reset(0)).ok


async def test_settings_choose_the_machines(cloud: FakeE2B) -> None:
    for chosen in (SandboxSettings(kind="e2b"), SandboxSettings(kind="auto", required_level="vm")):
        async with open_sandbox(chosen) as sandbox:
            assert sandbox.level is IsolationLevel.VM
            assert cloud.machines
        assert not cloud.machines
    with open_sandbox(SandboxSettings()) as sandbox:
        assert sandbox.level < IsolationLevel.VM


def test_try_runs_a_program_there(cloud: FakeE2B, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from flows.sandbox_cli import sandbox_app

    monkeypatch.setenv("SPADE_SANDBOX__KIND", "e2b")
    path = tmp_path / "counting.py"
    path.write_text(COUNTING)
    done = CliRunner().invoke(sandbox_app, ["try", str(path), "--action", "x", "--required-level", "vm", "--json"])

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["isolation"]["level"] == "vm"
    assert not cloud.machines
