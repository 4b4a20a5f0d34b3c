"""The paper's figures from a run's own records: what is counted, and nothing where nothing was measured."""

from dataclasses import replace

import pytest

from spade.attempts import Attempt
from spade.environments import Environment
from spade.episodes import Arm
from spade.messages import Sampling
from spade.quality import Made, Quality, figures, runs, state_variables, turn_tokens
from spade.skills import Setting, Skill
from spade.verdicts import Status, Verdict
from tests.data.records import episode, plain_plays, said

PASS, FAIL = Status.PASS, Status.FAIL
CODE = """class AEnv:
    def reset(self, seed=None):
        self.a = self.b = 1
        self.a += 1
        other.c = self.a
"""


def attempt(slot: str, number: int, **gates: Status) -> Attempt:
    verdicts = tuple(Verdict(name.replace("__", "."), status, "why") for name, status in gates.items())
    return Attempt(slot, number, "prompt-0", said("x"), Sampling(), "", (), verdicts)


RAN = {"form__parse": PASS, "runtime__startup": PASS}


def by_name(made: Made) -> dict[str, Quality]:
    return {figure.name: figure for figure in figures(made)}


def test_an_empty_run_has_no_figures_and_says_so() -> None:
    found = by_name(Made())
    assert all(figure.value is None and figure.n == 0 for figure in found.values())
    assert found["raw executability"].paper == "84.9 %"


def test_executability_is_of_first_attempts_and_of_slots() -> None:
    made = Made([
        attempt("s1", 0, form__parse=FAIL), attempt("s1", 1, **RAN),
        attempt("s2", 0, **RAN), attempt("s3", 0, form__parse=PASS, runtime__startup=FAIL),
    ])  # fmt: skip
    found = by_name(made)
    assert (found["raw executability"].value, found["raw executability"].n) == (pytest.approx(1 / 3), 3)
    assert found["executability after retries"].value == pytest.approx(2 / 3)


def test_only_running_programs_count_as_verifiable_or_leaking() -> None:
    made = Made([
        attempt("s1", 0, **RAN, semantic__oracle_max=PASS, semantic__no_solution_leakage=FAIL,
                semantic__interactive=PASS),
        attempt("s2", 0, **RAN, semantic__oracle_max=FAIL, semantic__floor_gap=FAIL),
        attempt("s3", 0, form__parse=FAIL, semantic__oracle_max=FAIL),
    ])  # fmt: skip
    found = by_name(made)
    assert (found["verifiability"].value, found["verifiability"].n) == (0.5, 2)
    assert (found["answer or formula printed at reset"].value, found["well-posedness"].value) == (1.0, 0.5)
    assert not runs(attempt("s", 0, form__parse=PASS))


def test_programs_are_measured_by_what_they_hold() -> None:
    environment = Environment(CODE, Setting.GAMES, Skill.OPTIMIZATION)
    found = by_name(Made(environments=[environment], vendi=1.5, vendi_n=3))
    assert (found["lines"].value, found["state variables"].value, found["Vendi / n"].value) == (5, 2, 0.5)
    assert state_variables("not python (") == 0


def test_reward_levels_and_turns_are_of_measured_plain_plays() -> None:
    plays = [episode(play=n, won=n > 0, turns=2 + n) for n in range(3)]
    hinted = episode(play=7, arm=Arm.HINTED, turns=9)
    lost = replace(episode(play=8, turns=9), return_=None, won=None)
    found = by_name(Made(plays=plain_plays([*plays, hinted, lost])))
    assert (found["distinct reward levels"].value, found["turns"].value) == (2, 3)


def test_tokens_of_first_and_later_turns_by_cycle() -> None:
    said_ = turn_tokens(plain_plays([episode(turns=3), episode(cycle="cycle-9")]), ["cycle-0", "cycle-1"])
    assert [(s.cycle_id, s.first, s.later, s.plays) for s in said_] == [
        ("cycle-0", 4.0, 4.0, 1),
        ("cycle-1", None, None, 0),
    ]
