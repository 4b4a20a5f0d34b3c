"""What a prompt shows as an example must be accepted itself, by every gate."""

import pytest

from spade.gates import examine, gate_names
from spade.parsing import parse_program
from spade.ports import Limits, Sandbox
from spade.prompting import render
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Status


@pytest.mark.parametrize("setting", list(Setting))
async def test_the_example_of_a_prompt_passes_every_gate(sandbox: Sandbox, setting: Setting) -> None:
    code = parse_program(render(f"contract_{setting}.j2")).code

    judged = await examine(code, setting, sandbox, Limits(), GateSettings(), full=True)

    assert [v for v in judged.verdicts if v.status is not Status.PASS] == []
    assert [v.gate for v in judged.verdicts] == gate_names(setting)
