"""The hint-gap audit with a real sandbox; the model plays a part."""

import json
from pathlib import Path

import pytest

from flows.auditing import audit, tasks_in, write_audit
from sandbox.opening import open_sandbox
from spade.errors import Abort
from spade.hint_gap import Gap, GapTask, Place
from spade.messages import Completion, Request, Role
from spade.settings import FactorySettings

TASKS = [
    GapTask("What is 1/2 + 1/4?", "3/4"),
    GapTask("Which planet is <b>red</b>?", "Mars"),
    GapTask("Name a prime above 90.", checker="def check(answer):\n    return answer.strip() == '97'"),
    GapTask("Guess my thought.", "otter", hint="Think of rivers."),
    GapTask("Broken.", checker="def check(answer):\n    raise ValueError(answer)"),
]


class Pupil:
    """Knows fractions; needs a hint for planets; its first hint says the answer. Never guesses the otter."""

    name, weights = "pupil", "pupil-1"

    def __init__(self) -> None:
        self.hints: list[str] = []

    async def complete(self, request: Request) -> Completion:
        asked = request.messages[-1].content
        if request.role is Role.HINT:
            self.hints.append(asked)
            said = "It is Mars." if "planet" in asked and "was rejected" not in asked else "Look at its colour."
        elif "1/2" in asked:
            said = "\\boxed{\\frac{3}{4}}"
        elif "planet" in asked:
            said = "\\boxed{mars}" if "Hint:" in asked else "\\boxed{Venus}"
        else:
            said = "\\boxed{97}"
        return Completion(said, self.name, self.weights)


async def test_tasks_are_placed_by_both_arms(tmp_path: Path) -> None:
    settings = FactorySettings()
    settings = settings.model_copy(update={"cycle": settings.cycle.model_copy(update={"plays": 4})})
    pupil, seen = Pupil(), list[Gap]()
    async with open_sandbox(settings.sandbox) as sandbox:
        gaps = await audit(TASKS, pupil, sandbox, settings, seen.append)
    assert [gap.place for gap in gaps] == [
        Place.MASTERED, Place.FRONTIER, Place.MASTERED, Place.HOPELESS, Place.UNKNOWN,
    ]  # fmt: skip
    fraction, planet, prime, otter, broken = gaps
    assert (fraction.score.plain.wins, fraction.score.hinted.wins) == (4, 4)
    assert (planet.score.plain.wins, planet.score.hinted.wins, planet.score.regret) == (0, 4, 1.0)
    assert (planet.hint, otter.hint) == ("Look at its colour.", "Think of rivers.")
    assert not any("thought" in asked for asked in pupil.hints)
    assert prime.score.plain.measured == 4
    assert broken.score.plain.measured == 0
    assert len(seen) == len(TASKS)

    page = write_audit(tmp_path, gaps, pupil.name, 4)
    text = page.read_text("utf-8")
    assert "&lt;b&gt;red&lt;/b&gt;" in text
    assert "<b>red</b>" not in text
    assert "4/4 [0.51, 1.00]" in text
    facts = json.loads(page.with_name("audit.json").read_text("utf-8"))
    assert facts["counts"] == {"mastered": 2, "frontier": 1, "hopeless": 1, "unknown": 1}


def test_a_file_without_tasks_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="cannot be read"):
        tasks_in(tmp_path / "nowhere.jsonl")
    (tmp_path / "empty.jsonl").write_text("{}\n")
    with pytest.raises(Abort, match=r"holds no task.*Line 1: it has no prompt"):
        tasks_in(tmp_path / "empty.jsonl")
