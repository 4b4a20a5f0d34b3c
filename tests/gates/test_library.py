"""Good programs pass every gate, and every kind of defect is stopped by the gate meant for it."""

from pathlib import Path

import pytest

from spade.gates import judge
from spade.gates.source import setting_of
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings
from spade.verdicts import Status, first_failure
from tests.defects import DEFECTS, Defect
from tests.defects.making import LIBRARY

GAMES, TOOLS = sorted(LIBRARY.glob("*.py")), sorted((LIBRARY / "tools").glob("*.py"))
KINDS = sorted({defect.kind for defect in DEFECTS})
LIMITS = Limits(wall_seconds=1.0, cpu_seconds=10.0)
WAITS = frozenset({"slow step", "step that hangs", "never comes back from reset"})
"""Kinds whose programs cost seconds of waiting."""


def cases() -> list[object]:
    """The first program of each kind by default, the others and those that wait with `-m slow`."""
    seen: set[str] = set()
    found: list[object] = []
    for defect in DEFECTS:
        slow = defect.kind in seen or defect.kind in WAITS
        seen.add(defect.kind)
        found.append(pytest.param(defect, id=defect.name, marks=[pytest.mark.slow] if slow else []))
    return found


def test_the_sets_are_as_large_as_they_should_be() -> None:
    assert (len(GAMES) >= 12, len(TOOLS) >= 6) == (True, True)
    assert len(KINDS) >= 40
    assert all(sum(defect.kind == kind for defect in DEFECTS) >= 2 for kind in KINDS)
    assert len({defect.code for defect in DEFECTS}) == len(DEFECTS)


@pytest.mark.parametrize("path", [*GAMES, *TOOLS], ids=lambda path: path.stem)
async def test_a_good_program_passes_every_gate(sandbox: Sandbox, path: Path) -> None:
    verdicts = await judge(path.read_text(), setting_of(path.read_text()), sandbox, Limits(), GateSettings(), full=True)

    assert [v for v in verdicts if v.status is not Status.PASS] == []


@pytest.mark.parametrize("defect", cases())
async def test_a_defect_is_stopped_by_the_gate_meant_for_it(sandbox: Sandbox, defect: Defect) -> None:
    failure = first_failure(await judge(defect.code, setting_of(defect.code), sandbox, LIMITS, GateSettings()))

    assert failure is not None, "accepted"
    assert (failure.gate, failure.status) == (defect.gate, Status.FAIL), failure.message
    assert failure.message
