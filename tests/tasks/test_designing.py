"""What the next attempt of a slot is told, by the setting `designer.retry`."""

from types import SimpleNamespace
from typing import Any

import pytest

from flows.configuring import flags_of, load_settings
from spade.attempts import Attempt
from spade.messages import Completion, Sampling
from spade.prompting import CodeDesigner
from spade.skills import Setting, Skill
from spade.slots import Slot
from spade.verdicts import Status, Verdict
from tasks.designing import _rejection

SLOT = Slot("cycle-1", 0, Setting.GAMES, Skill.OPTIMIZATION, "doc-1", 1)
PROGRAM = "class AEnv:\n    pass\n"


def attempt(number: int, message: str) -> Attempt:
    completion = Completion(f"```python\n{PROGRAM}```", "m", "w")
    verdicts = (Verdict("form.parse", Status.PASS), Verdict("form.contract", Status.FAIL, message))
    return Attempt(SLOT.slot_id, number, "p", completion, Sampling(), "env", (), verdicts, "form.contract")


def factory(**flags: Any) -> Any:
    return SimpleNamespace(settings=load_settings("default", flags_of(**flags)), designer=CodeDesigner())


def test_repair_shows_gate_message_and_program_of_the_last_attempt() -> None:
    told = _rejection(factory(), SLOT, [attempt(0, "No reset."), attempt(1, "No step.")])

    assert told is not None
    assert (told.gate, told.message, told.code) == ("form.contract", "No step.", PROGRAM)


@pytest.mark.parametrize(
    ("flags", "messages"),
    [
        ({}, []),
        ({"designer__retry": "resample"}, ["No reset."]),
        ({}, ["No reset.", "No reset."]),
        ({}, ["No reset.", "No step.", "No solution."]),
    ],
)
def test_the_first_attempt_resampling_and_feedback_in_vain_start_afresh(flags: Any, messages: list[str]) -> None:
    assert _rejection(factory(**flags), SLOT, [attempt(n, m) for n, m in enumerate(messages)]) is None
