"""Reasoning-Gym dealt as environments: the level comes from past plays, the program from the package's questions."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from data.benchmarks.gym_tasks import plays_of
from data.catalog import Catalog
from spade.designing import Brief
from spade.environments import Environment
from spade.episodes import Arm
from spade.errors import Skip
from spade.gym_pool import PROGRAMS, GymDesigner, GymModel
from spade.messages import Message, Request, Role, Sampling
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from spade.verdicts import Status, Verdict
from spade.wrapping import MOST_BYTES, wrapped
from tests.data.records import episode

LEVELS = {"gcd": 3, "lcm": 3, "maze": 0}
HOSTILE = 'TASKS = [] """ {name} \\boxed{1} \n    import os'


def slot(index: int, cycle: str = "cycle-0", seed: int = 7) -> Slot:
    return Slot(cycle, index, Setting.GAMES, Skill.OPTIMIZATION, "doc-0", seed)


async def questions(dataset: str, level: int, seed: int, count: int) -> Sequence[tuple[str, str]]:
    return [(f"{dataset} {level} {seed} number {n}?", str(n)) for n in range(count)]


def designer(plays: Sequence[tuple[int, bool]] = ()) -> GymDesigner:
    return GymDesigner(LEVELS, lambda dataset, cycle: plays if dataset == "gcd" else [], "1.0")


def asked(made: GymDesigner, index: int, cycle: str = "cycle-0", seed: int = 7) -> tuple[str, int]:
    text = made.prompt(Brief(slot(index, cycle, seed))).messages[-1].content
    found = re.fullmatch(r"Deal (\w+) at level (\d) of \d to \d\.", text)
    assert found is not None
    return found[1], int(found[2])


def test_a_cycle_deals_each_dataset_in_an_order_of_its_own() -> None:
    dealt = [asked(designer(), n) for n in range(3)]
    assert sorted(dealt) == [("gcd", 0), ("lcm", 0), ("maze", 0)]
    assert [asked(designer(), n) for n in range(3)] == dealt
    orders = {tuple(asked(designer(), n, f"cycle-{c}")[0] for n in range(3)) for c in range(12)}
    assert len(orders) > 1


def test_levels_come_from_the_window_that_past_plays_opened() -> None:
    mastered = [(0, True)] * 32 + [(1, True)] * 32
    index = next(n for n in range(3) if asked(designer(), n)[0] == "gcd")
    levels = {asked(designer(mastered), index, seed=s)[1] for s in range(40)}
    assert levels == {0, 1, 2}


def test_a_program_holds_new_questions_and_says_what_it_is() -> None:
    model, made = GymModel(questions, "1.0"), designer()

    async def program(seed: int) -> Environment:
        request = Request((Message("user", "Deal gcd at level 2 of 0 to 3."),), Sampling(seed=seed), Role.DESIGNER)
        draft = made.read((await model.complete(request)).text, slot(0))
        assert draft.environment is not None
        return draft.environment

    one, again, other = (asyncio.run(program(seed)) for seed in (5, 5, 6))
    assert one == again
    assert one.env_id != other.env_id
    assert (one.title, one.mechanic) == ("Reasoning-Gym gcd", "level 2")
    assert one.code.count("gcd 2 5 number") == PROGRAMS


def test_a_hint_is_asked_for_with_one_question_and_no_program() -> None:
    pairs = [(HOSTILE, "41"), *((f"question {n}?", "42") for n in range(PROGRAMS))]
    named = Environment(wrapped("gcd", 2, pairs), Setting.GAMES, Skill.OPTIMIZATION)
    rejected = Verdict("hint.length", Status.FAIL, "Too long.")

    prompt = designer().hint_prompt(named, "", rejected)

    said = prompt.messages[-1].content
    assert (HOSTILE in said, "question 0?" in said, "41" in said, "def step" in said) == (True, False, False, False)
    assert "Too long." in said
    assert prompt.role is Role.HINT


def test_another_request_is_refused() -> None:
    request = Request((Message("user", "Write a game."),), Sampling(), Role.DESIGNER)
    with pytest.raises(Skip, match="answers nothing else"):
        asyncio.run(GymModel(questions, "1.0").complete(request))


def test_a_level_that_cannot_be_made_is_a_refused_attempt() -> None:
    async def failing(dataset: str, level: int, seed: int, count: int) -> Sequence[tuple[str, str]]:
        raise Skip("rotation must be in range.")

    request = Request((Message("user", "Deal gcd at level 3 of 0 to 3."),), Sampling(), Role.DESIGNER)
    said = asyncio.run(GymModel(failing, "1.0").complete(request)).text
    assert said == "gcd has no questions at level 3: rotation must be in range."
    problem = designer().read(said, slot(0)).problem
    assert problem is not None
    assert problem.gate == "form.parse"


def loaded(code: str, folder: Path) -> ModuleType:
    """The program of our own template as a module; what its questions hold is what is tested."""
    file = folder / "program.py"
    file.write_text(code)
    spec = spec_from_file_location("program", file)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_question_becomes_code(tmp_path: Path) -> None:
    module = loaded(wrapped("gcd", 0, [(HOSTILE, "1"), ("x" * MOST_BYTES, "2")]), tmp_path)
    assert module.TASKS == [(HOSTILE, "1")]
    assert not hasattr(module, "os")


def test_replies_are_marked_as_the_package_marks_them(tmp_path: Path) -> None:
    """Right is 1, an answer within a longer reply its share of it, anything else 0."""
    module = loaded(wrapped("gcd", 0, [("q", "12")]), tmp_path)
    for said, value in (("12", 1.0), ("it is 12", 2 / 8), ("1", 0.0), ("", 0.0)):
        game = module.GcdLevel0Env()
        game.reset(0)
        _, reward, terminated, truncated, _ = game.step(said)
        assert (reward, terminated or truncated) == (pytest.approx(value), True)


def test_past_plays_are_those_of_earlier_cycles_of_the_same_run(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    first, second, third = (Cycle("a" * 12, 0, number) for number in range(3))
    elsewhere = Cycle("a" * 12, 1, 0)
    catalog.append("cycles", [third, second, first, elsewhere])
    for cycle, dataset, level, ends in (
        (second, "gcd", 1, [True, False]),
        (first, "gcd", 0, [True, True]),
        (first, "lcm", 0, [False]),
        (third, "gcd", 2, [False]),
        (elsewhere, "gcd", 3, [False]),
    ):
        named = Environment(f"{dataset} {cycle.cycle_id}", Setting.GAMES, Skill.OPTIMIZATION)
        made = replace(named, title=f"Reasoning-Gym {dataset}", mechanic=f"level {level}")
        catalog.append("environments", [made])
        arms = [(Arm.PLAIN, ends), (Arm.HINTED, [False, False, False])]
        plays = [episode(cycle.cycle_id, made.env_id, n, arm, won) for arm, all_ in arms for n, won in enumerate(all_)]
        catalog.append("episodes", plays)
    assert plays_of(catalog, "gcd", third.cycle_id) == [(0, True), (0, True), (1, True), (1, False)]
    assert plays_of(catalog, "gcd", first.cycle_id) == []
    assert plays_of(catalog, "lcm", second.cycle_id) == [(0, False)]
