"""Reasoning-Gym's own questions as environments: they pass the gates, and harder levels are harder."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from data.benchmarks.gym_tasks import GymTasks
from data.benchmarks.packages import REASONING_GYM, python_of
from flows.configuring import load_settings
from sandbox.opening import open_sandbox
from spade.errors import Abort
from spade.evaluating import MarkerError
from spade.evaluation_settings import EvaluationSettings
from spade.gates import examine
from spade.ports import Limits
from spade.settings import SandboxSettings
from spade.skills import Setting
from spade.verdicts import first_failure
from spade.wrapping import wrapped

ENVIRONMENTS = EvaluationSettings().environments.expanduser()
T = TypeVar("T")


def with_tasks(using: Callable[[GymTasks], Awaitable[T]]) -> T:
    """Skips where the package is not."""
    try:
        python_of(REASONING_GYM, ENVIRONMENTS)
    except Abort as missing:
        pytest.skip(str(missing))

    async def opened() -> T:
        source = GymTasks(ENVIRONMENTS)
        try:
            return await using(source)
        finally:
            await source.aclose()

    return asyncio.run(opened())


def test_only_datasets_with_the_plain_scorer_and_a_curriculum_are_dealt() -> None:
    async def asked(source: GymTasks) -> dict[str, int]:
        return dict(await source.datasets())

    levels = with_tasks(asked)
    assert len(levels) == 31
    assert {"gcd", "lcm", "maze", "caesar_cipher"} <= set(levels)
    assert not {"countdown", "sudoku"} & set(levels)
    assert min(levels.values()) >= 1


def test_questions_depend_on_the_seed_and_harder_levels_are_harder() -> None:
    async def asked(source: GymTasks) -> list[Any]:
        return [await source.tasks("lcm", level, seed, 8) for level, seed in ((0, 1), (0, 1), (0, 2), (3, 1))]

    one, again, other, harder = with_tasks(asked)
    assert one == again
    assert one != other
    assert sum(int(answer) for _, answer in harder) > 100 * sum(int(answer) for _, answer in one)


def test_a_level_that_the_package_refuses_is_a_failed_draw() -> None:
    async def asked(source: GymTasks) -> str:
        with pytest.raises(MarkerError) as refused:
            await source.tasks("caesar_cipher", 3, 0, 8)
        return str(refused.value)

    assert "rotation must be in range" in with_tasks(asked)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("dataset", ["gcd", "maze", "simple_equations", "course_schedule"])
def test_dealt_programs_meet_the_gates_like_any_other(dataset: str) -> None:
    """Most pass; a set of yes and no is won by always saying the same, and refused for it."""
    settings = load_settings("reasoning-gym-pool")
    own = settings.sandbox
    limits = Limits(own.wall_seconds, own.cpu_seconds, own.memory_mb, own.scratch_mb)

    async def judged(source: GymTasks) -> str:
        code = wrapped(dataset, 0, await source.tasks(dataset, 0, 1, 32))
        with open_sandbox(SandboxSettings(kind="local")) as box:
            failed = first_failure((await examine(code, Setting.GAMES, box, limits, settings.gates)).verdicts)
        return failed.gate if failed else ""

    assert with_tasks(judged) == ("semantic.canary_floor" if dataset == "course_schedule" else "")
