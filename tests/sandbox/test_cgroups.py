"""The control group around a sandbox, where one can be made."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cgroups import make_group
from sandbox.isolation import Isolation
from sandbox.local import LocalSandbox
from sandbox.zygotes import pid_behind
from spade.outcomes import CallOutcome
from spade.ports import Limits
from tests.sandbox.programs import COUNTING, running


@pytest.fixture
def core() -> Iterator[LocalSandbox]:
    group, reason = make_group()
    if group is None:
        pytest.skip(reason)
    group.close()
    core = LocalSandbox("confined", warm=0)
    yield core
    core.close()


def test_every_program_is_born_in_the_group(core: LocalSandbox) -> None:
    _, game = core.open(COUNTING, Limits())
    assert game is not None
    assert core.group is not None
    member = Path(f"/proc/{pid_behind(game.child.pidfd)}/cgroup").read_text()

    assert all(folder.name in member for folder in core.group.folders)
    assert "memory" in core.zygote().layers["control_group"]
    isolation = Isolation("confined", core.zygote().layers, {})
    assert "control group" in isolation.properties()["memory is bounded"]


def test_the_group_goes_with_its_sandbox(core: LocalSandbox) -> None:
    core.open(running(in_step="pass"), Limits())
    assert core.group is not None
    folders = core.group.folders
    core.close()

    assert not any(folder.exists() for folder in folders)


def test_a_program_killed_for_memory_is_told_from_one_that_crashed(core: LocalSandbox) -> None:
    """The kernel's killer leaves no message: what is known is that it was not us, nor the processor limit."""
    limits = Limits(wall_seconds=20.0, memory_mb=1024)
    _, game = core.open(running(in_step="bytearray(600 << 20)"), limits)
    assert game is not None
    assert core.group is not None
    game.reset(0)
    limited = [name for folder in core.group.folders for name in ("memory.limit_in_bytes", "memory.max")]
    for folder in core.group.folders:
        for name in limited:
            if (folder / name).exists():
                (folder / name).write_text(str(128 << 20))

    assert game.step("x").outcome is CallOutcome.ENV_MEMORY
    game.close()


def test_empty_groups_of_dead_hosts_are_swept_away(core: LocalSandbox) -> None:
    assert core.group is not None
    left = [folder.parent / "spade-4194305-1" for folder in core.group.folders]
    for folder in left:
        folder.mkdir()
    group, _ = make_group()
    assert group is not None
    group.close()

    assert not any(folder.exists() for folder in left)
