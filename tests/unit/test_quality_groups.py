"""The paper's figures by skill and domain: each part counts its own, and nothing of another."""

from dataclasses import replace

import pytest

from spade.attempts import Attempt
from spade.environments import Environment
from spade.messages import Sampling
from spade.quality import Made, figures
from spade.quality_groups import MOST, SHOWN, GroupFigures, divided, papers
from spade.scores import score
from spade.skills import Setting, Skill
from spade.verdicts import Status, Verdict
from tests.data.records import episode, plain_plays, said

RAN = (Verdict("form.parse", Status.PASS), Verdict("runtime.startup", Status.PASS))
BROKEN = (Verdict("form.parse", Status.FAIL, "why"),)


def environment(number: int) -> Environment:
    return Environment(f"class G{number}Env:\n" + "    a = 1\n" * number, Setting.GAMES, Skill.OPTIMIZATION)


def attempt(slot: str, env_id: str = "") -> Attempt:
    verdicts = RAN if env_id else BROKEN
    return Attempt(slot, 0, "prompt-0", said("x"), Sampling(), env_id, (), verdicts, "" if env_id else "form.parse")


def run(wins: dict[int, list[bool]]) -> Made:
    """One environment a slot with these plain plays, and one slot that came to nothing."""
    environments = [environment(number) for number in wins]
    plays = [
        episode(env=made.env_id, play=n, won=won) for made, ends in zip(environments, wins.values(), strict=True)
        for n, won in enumerate(ends)
    ]  # fmt: skip
    return Made(
        attempts=[*(attempt(f"s{n}", e.env_id) for n, e in zip(wins, environments, strict=True)), attempt("lost")],
        environments=environments,
        scores=[score("cycle-0", e.env_id, [p for p in plays if p.asked.env_id == e.env_id]) for e in environments],
        plays=plain_plays(plays),
        vendi=2.0,
        vendi_n=len(environments),
    )


def shown(line: GroupFigures) -> dict[str, float | None]:
    return {figure.name: figure.value for figure in line.figures}


def test_each_group_counts_its_own() -> None:
    made = run({1: [True, False], 2: [True, True], 3: [False, False]})
    code, science = divided(made, {"s1": "code", "s2": "code", "s3": "science", "lost": "science"})
    assert (code.name, code.environments, code.win_rate) == ("code", 2, 0.75)
    assert (science.name, science.environments, science.win_rate) == ("science", 1, 0.0)
    assert shown(code)["raw executability"] == 1.0
    assert shown(science)["raw executability"] == 0.5
    assert shown(code)["learnable-band share"] == 0.5
    assert (shown(code)["lines"], shown(science)["lines"]) == (pytest.approx(2.5), 4.0)
    assert [figure.n for figure in science.figures if figure.name == "verifiability"] == [0]


def test_all_groups_together_are_the_run() -> None:
    made = run({1: [True, False], 2: [True, True]})
    (whole,) = divided(made, dict.fromkeys(("s1", "s2", "lost"), "all"))
    over_all = {figure.name: figure.value for figure in figures(replace(made, vendi=None, vendi_n=0))}
    assert shown(whole) == {name: over_all[name] for name in SHOWN}


def test_small_groups_are_taken_together() -> None:
    count = MOST + 3
    made = run({number: [True] for number in range(1, count + 1)})
    lines = divided(made, {f"s{number}": f"group {number:02}" for number in range(1, count + 1)})
    assert (len(lines), lines[-1].name, lines[-1].environments) == (MOST + 1, "3 others", 3)


def test_the_papers_figures_stand_beside_them() -> None:
    assert dict(zip(SHOWN, papers(), strict=True))["verifiability"] == "90–93 %"
    assert divided(Made(), {}) == []
