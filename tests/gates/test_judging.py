"""The whole way through the real sandbox: good programs pass, one change each is met by the gate meant for it."""

import pytest

from spade.gates import examine, gate_names, judge
from spade.ports import Limits, Sandbox
from spade.prompting import render
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Status, first_failure

GOOD = render("skeleton_games.txt")
LIMITS = Limits(wall_seconds=2.0, cpu_seconds=20.0)


async def test_the_skeleton_of_the_prompt_passes_every_gate(sandbox: Sandbox) -> None:
    judgement = await examine(GOOD, Setting.GAMES, sandbox, LIMITS, GateSettings(), full=True)

    assert [v for v in judgement.verdicts if v.status is not Status.PASS] == []
    assert [v.gate for v in judgement.verdicts] == gate_names()
    assert len(judgement.solutions) == len(judgement.observations) == 5


@pytest.mark.parametrize(
    ("old", "new", "gate"),
    [
        ("        self.paid = 0.0\n", "        self.paid = 0.0\n        [][1]\n", "runtime.startup"),
        ("        guess = self._parse(action)\n", "        guess = list(map(int, action.split()))\n", "runtime.robust"),
        ("max(0.0, value - self.paid)", "value", "runtime.reward_well_formed"),
        ('"The episode is over.", 0.0', '"The episode is over.", 0.5', "runtime.state_contract"),
        ("random.Random(seed)", "random.Random(7)", "runtime.seed_control"),
        ("random.Random(seed)", "random.Random(hash(str(seed)))", "runtime.episode_determinism"),
        ("        self.paid = 0.0\n", "        self.paid = getattr(self, 'paid', 0.0)\n", "runtime.episode_isolation"),
        ("return [\" \".join(str(digit)", "return [\" \".join(str(9 - digit)", "semantic.oracle_max"),
        ('"The lock opens."', '"The lock opens." * 2000', "runtime.observation_schema"),
        ("range(3)]\n", "range(3)]\n        self.code[0] = self.code[1] = self.code[2]\n", "semantic.floor_gap"),
        ('tries. Answer', 'tries. The code is {self.code[0]} {self.code[1]} {self.code[2]}. Answer',
         "semantic.no_solution_leakage"),
        ("self._feedback(guess) + f\" Tries", "f\" Tries", "semantic.interactive"),
    ],
)  # fmt: skip
async def test_one_change_is_met_by_the_gate_meant_for_it(sandbox: Sandbox, old: str, new: str, gate: str) -> None:
    assert old in GOOD

    verdicts = await judge(GOOD.replace(old, new, 1), Setting.GAMES, sandbox, LIMITS, GateSettings())

    failure = first_failure(verdicts)
    assert failure is not None, "passed"
    assert (failure.gate, bool(failure.message)) == (gate, True), failure
