"""TextArena's own games and rewards."""

import asyncio
import re

import pytest

from data.benchmarks.packages import TEXTARENA, python_of
from data.benchmarks.textarena import TextArena
from spade.errors import Abort
from spade.evaluating import Talk
from spade.evaluation import Mark, SampleOutcome
from spade.evaluation_settings import EvaluationSettings
from spade.messages import Request
from tests.fakes import RuleModel

ENVIRONMENTS = EvaluationSettings().environments.expanduser()


def halving(request: Request) -> str:
    """Guesses a number by halving what the hints leave."""
    seen = request.messages[-1].content.rpartition("Enter your guess.")[2]
    low, high = 1, 20
    for guess, hint in zip(re.findall(r"\[(\d+)\]", seen), re.findall(r"target number is (\w+)", seen), strict=False):
        low, high = (int(guess) + 1, high) if hint == "higher" else (low, int(guess) - 1)
    return f"[{(low + high) // 2}]"


def played(game: str, model: RuleModel) -> Mark:
    async def taken() -> Mark:
        suite = TextArena(ENVIRONMENTS, processes=1)
        try:
            questions = await suite.questions(1, 0)
            question = next(q for q in questions if q.group == game)
            return await suite.attempt(question, Talk(model, suite.protocol, 0))
        finally:
            await suite.aclose()

    return asyncio.run(taken())


@pytest.fixture(autouse=True)
def package() -> None:
    try:
        python_of(TEXTARENA, ENVIRONMENTS)
    except Abort as missing:
        pytest.skip(str(missing))


def test_a_game_is_won_over_several_turns() -> None:
    model = RuleModel(halving)
    mark = played("GuessTheNumber-v0", model)
    assert (mark.score, mark.outcome) == (1.0, SampleOutcome.SCORED)
    assert model.requests[0].messages[0].role == "system"


def test_nonsense_loses() -> None:
    mark = played("TowerOfHanoi-v0", RuleModel(lambda request: "no move at all"))
    assert mark.score == 0.0
    assert mark.detail
