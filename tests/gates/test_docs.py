from pathlib import Path

import pytest

from spade.gates import gate_names
from spade.skills import Setting
from tests.defects import DEFECTS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "gates.md").read_text()


@pytest.mark.parametrize("gate", sorted({*gate_names(Setting.GAMES), *gate_names(Setting.TOOLS), "hint.no_leak"}))
def test_every_gate_is_in_the_documentation(gate: str) -> None:
    assert f"`{gate}`" in TEXT


def test_the_documentation_counts_the_defects_right() -> None:
    assert f"{len(DEFECTS)}\nbroken programs of {len({d.kind for d in DEFECTS})} kinds" in TEXT
