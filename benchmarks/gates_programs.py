"""The programs that `benchmarks/gates.py` judges: good ones of three sources, and one of each kind of defect."""

import json
from pathlib import Path

from spade.blueprints import MECHANICS, Blueprint, compile_blueprint
from spade.blueprints.themes import THEMES
from spade.identity import rng_for
from tests.defects import DEFECTS, Defect
from tests.defects.making import LIBRARY, SKELETON

MEDIUM = range(55, 66)
"""Lines of the programs whose speed is measured: 61 on the mean is what designers write for a game of one mechanism."""
QUIZ = '''import random

ITEMS = {items}


class QuizEnv:
    """Three questions in a row from one dataset; a wrong answer ends the game."""

    def __init__(self, max_turns=4):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.chosen = random.Random(seed).sample(ITEMS, 3)
        self.at = 0
        self.turn = 0
        self.done = False
        return "Answer three questions. Write each answer in a box.\\n\\n" + self.chosen[0][0], {{}}

    def solution(self):
        return [answer for _, answer in self.chosen]

    def step(self, action):
        if self.done:
            return "The quiz is over.", 0.0, True, False, {{}}
        self.turn += 1
        if action.strip() != self.chosen[self.at][1]:
            self.done = True
            return "Wrong.", 0.0, True, False, {{}}
        self.at += 1
        self.done = self.at == 3
        reward = 1 / 3
        if self.done:
            return "All three are right.", reward, True, False, {{}}
        return self.chosen[self.at][0], reward, False, False, {{}}
'''


def defects(quick: bool) -> list[Defect]:
    """All of them, or the first of each kind."""
    first = {defect.kind: defect for defect in reversed(DEFECTS)}
    return list(reversed(first.values())) if quick else list(DEFECTS)


def medium_programs() -> list[str]:
    """Games of the library with about 61 lines."""
    codes = [path.read_text() for path in (SKELETON, *sorted(LIBRARY.glob("*.py")))]
    return [code for code in codes if len(code.splitlines()) in MEDIUM]


def good_programs(items: Path | None, quick: bool) -> dict[str, list[tuple[str, str]]]:
    """(title, program) of each set. `items` is what benchmarks/reasoning_gym_items.py wrote."""
    library = [(path.stem, path.read_text()) for path in [SKELETON, *sorted(LIBRARY.rglob("*.py"))]]
    programs = {"library": library, "blueprints": blueprints(12 if quick else 66)}
    if items is not None:
        lines = [json.loads(line) for line in items.read_text().splitlines()][: 10 if quick else None]
        programs["reasoning-gym"] = [(entry["dataset"], QUIZ.format(items=repr(entry["items"]))) for entry in lines]
    return programs


def blueprints(count: int) -> list[tuple[str, str]]:
    """Blueprints drawn evenly over mechanics and knobs, compiled."""
    programs = []
    for number in range(count):
        rng = rng_for(number, "benchmark blueprints")
        mechanic = list(MECHANICS.values())[number % len(MECHANICS)]
        knobs = tuple((knob.name, rng.choice(list(knob.values))) for knob in mechanic.knobs)
        theme, plan = rng.choice(list(THEMES)), rng.choice(list(mechanic.plans))
        blueprint = Blueprint(mechanic.name, knobs, theme, "The Quiet Place", "Something is hidden here.", plan)
        environment = compile_blueprint(blueprint, mechanic.setting, mechanic.skills[0])
        programs.append((f"{mechanic.name} {dict(knobs)}", environment.code))
    return programs
