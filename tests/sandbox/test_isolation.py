"""Levels are computed from what works, tested by trying, and refused when too low."""

import sys
from typing import Literal

import pytest

from sandbox.isolation import Isolation, missing_layers
from sandbox.local import LocalSandbox
from sandbox.opening import open_sandbox
from sandbox.selftest import PROPERTIES, break_out
from sandbox.tiers import open_local
from spade.errors import Abort
from spade.outcomes import CallOutcome
from spade.ports import IsolationLevel, Limits
from spade.settings import SandboxSettings
from tests.sandbox.programs import COUNTING

LAYERS = {"seccomp": True, "landlock": 7, "process_namespace": True, "mount_namespace": True, "own_user": True}


def test_no_canary_breaks_out(local: LocalSandbox) -> None:
    assert len(PROPERTIES) >= 10
    assert break_out(local) == {}


def test_a_missing_filter_is_found_by_trying() -> None:
    """A sandbox that only believes it is safe is what the self-test is for."""
    core = LocalSandbox("confined", without={"seccomp": "left out", "landlock": "left out"})
    try:
        found = break_out(core)
    finally:
        core.close()

    assert {"no network", "files of the host cannot be read"} <= set(found)


@pytest.mark.parametrize(
    ("tier", "changed", "level"),
    [
        ("namespaced", {}, IsolationLevel.NAMESPACED),
        ("confined", {}, IsolationLevel.CONFINED),
        ("namespaced", {"landlock": 0}, IsolationLevel.NAMESPACED),
        ("confined", {"landlock": 0}, IsolationLevel.UNSAFE),
        ("namespaced", {"seccomp": False}, IsolationLevel.UNSAFE),
        ("confined", {"seccomp": False}, IsolationLevel.UNSAFE),
    ],
)
def test_the_level_follows_from_the_layers(tier: str, changed: dict[str, object], level: IsolationLevel) -> None:
    assert Isolation(tier, LAYERS | changed, {}).level is level  # type: ignore[arg-type]


def test_a_break_out_makes_it_unsafe() -> None:
    isolation = Isolation("namespaced", LAYERS, {}, {"no network": "network: opened a socket"})

    assert isolation.level is IsolationLevel.UNSAFE
    assert isolation.properties()["no network"] == []


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("the fork server does not start: bwrap is not installed", "Install bubblewrap"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: No permissions to create new namespace", "--cap-add SYS_ADMIN"),
    ],
)
def test_a_missing_layer_comes_with_its_remedy(reason: str, remedy: str) -> None:
    assert remedy in missing_layers({"bubblewrap": reason})["bubblewrap"]


@pytest.mark.parametrize(
    ("layer", "remedy"),
    [("landlock", "Linux 5.13"), ("own_user", "CAP_SETUID"), ("control_group", "Delegate=yes")],
)
def test_other_layers_have_remedies_too(layer: str, remedy: str) -> None:
    assert remedy in missing_layers({layer: "not there"})[layer]


@pytest.mark.parametrize("kind", ["local", "auto"])
def test_other_systems_are_sent_to_linux_or_to_e2b(
    kind: Literal["local", "auto"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    with pytest.raises(Abort, match=r"no local sandbox on darwin.*e2b"), open_sandbox(SandboxSettings(kind=kind)):
        pass


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without it: it is looked for on the path and beside the interpreter."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")


@pytest.mark.usefixtures("no_bubblewrap")
def test_without_bubblewrap_programs_are_confined() -> None:
    core, isolation = open_local()
    core.close()

    assert isolation.level is IsolationLevel.CONFINED
    assert "Install bubblewrap" in isolation.missing["bubblewrap"]


@pytest.mark.usefixtures("no_bubblewrap")
def test_a_level_that_is_not_reached_is_refused_with_what_is_missing() -> None:
    with (
        pytest.raises(Abort, match=r"level confined; sandbox\.required_level is namespaced.*Install bubblewrap"),
        open_sandbox(SandboxSettings(required_level="namespaced")),
    ):
        pass


def test_e2b_is_refused_without_its_extra_or_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    with pytest.raises(Abort, match=r"spade-factory\[e2b\]|E2B_API_KEY"), open_sandbox(SandboxSettings(kind="e2b")):
        pass


def test_a_level_out_of_reach_names_e2b_as_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    with (
        pytest.raises(Abort, match=r"required_level is vm.*rent machines"),
        open_sandbox(SandboxSettings(required_level="vm")),
    ):
        pass


async def test_a_sandbox_ends_with_its_block() -> None:
    async with open_sandbox(SandboxSettings()) as sandbox:
        opened = await sandbox.open(COUNTING, Limits())
        assert opened.game is not None
    reply = await opened.game.reset(0)

    assert reply.outcome is CallOutcome.SANDBOX_LOST


WRITING = """
class OneEnv:
    def reset(self, seed=None):
        return "start", {}

    def step(self, action):
        with open("note", "w") as file:
            file.write("x" * int(action))
        with open("note") as file:
            return str(len(file.read())), 0.0, False, False, {}
"""


def test_the_scratch_folder_is_small_and_each_program_has_its_own(local: LocalSandbox) -> None:
    limits = Limits(wall_seconds=10.0, scratch_mb=2)
    games = [local.open(WRITING, limits, guarded=False)[1] for _ in range(2)]
    replies = []
    for game in games:
        assert game is not None
        game.reset(0)
        replies.append([game.step("1000000"), game.step("5000000")])
        game.close()

    if local.tier == "namespaced":
        assert [small.steps[0].observation for small, _ in replies] == ["1000000", "1000000"]
    assert {reply.outcome for pair in replies for reply in pair[local.tier == "namespaced" :]} == {
        CallOutcome.ENV_ERROR
    }
