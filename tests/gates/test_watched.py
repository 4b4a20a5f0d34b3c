"""Programs that behave while they are watched: they count episodes or steps, know seeds, or wait to be asked."""

import pytest

from spade.gates import judge
from spade.gates.lasting import episodes_to_play, lasting_attributes
from spade.gates.source import read_source
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import first_failure
from tests.defects.making import LIBRARY, good

LOCK = good("dial_lock")
PAID = "        self.paid = 0.0\n"
TURN = "        self.turn += 1\n"
OPEN = "            return 'The lock opens.', 1.0 - self.paid, True, False, {}\n"


def after_episodes(count: int) -> str:
    """Honest for so many episodes, then always the same code."""
    counted = PAID + "        self.plays = getattr(self, 'plays', 0) + 1\n"
    return LOCK.replace(PAID, counted + f"        if self.plays > {count}:\n            self.code = [4, 0, 9]\n", 1)


def after_steps(count: int) -> str:
    """Honest for so many steps, then every action wins."""
    counted = TURN + "        self.steps = getattr(self, 'steps', 0) + 1\n"
    return LOCK.replace(TURN, counted + f"        if self.steps > {count}:\n            self.done = True\n{OPEN}", 1)


def for_seeds(condition: str) -> str:
    return LOCK.replace(PAID, PAID + f"        if {condition}:\n            self.code = [4, 0, 9]\n", 1)


WATCHED = {
    "counts episodes, 3": after_episodes(3),
    "counts episodes, 60": after_episodes(60),
    "counts episodes, 1500": after_episodes(1500),
    "counts steps, 10": after_steps(10),
    "counts steps, 700": after_steps(700),
    "knows the first ten seeds": for_seeds("seed not in range(10)"),
    "knows that judges use small seeds": for_seeds("seed is None or seed > 100000"),
    "waits to be asked for its solution": LOCK.replace(
        '        return [" ".join(', '        self.asked = True\n        return [" ".join(', 1
    ).replace("        if right == 3:", "        if right == 3 and getattr(self, 'asked', False):", 1),
}


@pytest.mark.parametrize("name", WATCHED)
async def test_a_program_that_changes_when_nobody_looks_is_refused_with_a_reason(sandbox: Sandbox, name: str) -> None:
    assert WATCHED[name] != LOCK

    failure = first_failure(await judge(WATCHED[name], Setting.GAMES, sandbox, Limits(), GateSettings()))

    assert failure is not None, "accepted"
    assert failure.message


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda path: path.stem)
def test_good_programs_are_not_suspected(path: object) -> None:
    assert lasting_attributes(read_source(path.read_text())) == set()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reset", "step", "lasting"),
    [
        ("self.n = 0", "self.n += 1", set()),
        ("self.n = self.n + 1 if hasattr(self, 'n') else 0", "self.n += 0", {"n"}),
        ("self.a, self.b = 0, []", "self.b.append(1)", set()),
        ("pass", "self.seen.add(action)", {"seen"}),
        ("self._deal()", "self.cards.pop()", set()),
        ("pass", "self.log[0] = action", {"log"}),
        ("self.n = getattr(self, 'n', 0) + 1", "pass", {"n"}),
        ("pass", "setattr(self, 'k', 1)", {"k"}),
    ],
)
def test_what_reset_does_not_set_anew_lasts(reset: str, step: str, lasting: set[str]) -> None:
    code = (
        "class AEnv:\n    def __init__(self, max_turns=5):\n        self.seen, self.log = set(), [0]\n"
        f"    def reset(self, seed=None):\n        {reset}\n"
        f"    def step(self, action):\n        {step}\n        return 1 < 7\n"
    )
    if "_deal" in reset:
        code += "    def _deal(self):\n        self.cards = [1]\n"

    assert lasting_attributes(read_source(code)) == lasting
    assert (episodes_to_play(read_source(code)) > 7) is bool(lasting)
