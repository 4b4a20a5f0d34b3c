"""Every call is in the accounts, and a spent budget lets no further one start."""

import asyncio

import pytest

from inference.accounts import Budget, BudgetSpent, Ledger, Metered
from spade.errors import Abort, Retry, Skip
from spade.messages import Completion, Message, Request, Role, Sampling, Tokens, Usage
from tests.fakes import ScriptedModel


def request(role: Role = Role.AGENT) -> Request:
    return Request((Message("user", "x"),), Sampling(), role)


class Priced:
    """Answers with 10 + 2 tokens that cost 0.5."""

    name = weights = "priced"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: Request) -> Completion:
        self.calls += 1
        await asyncio.sleep(0)
        tokens = Tokens((1,), (2,), (-1.0,), "model")
        return Completion("x", "m", "w", usage=Usage(10, 2, 0.5), tokens=tokens, guided=True, seconds=0.25)


async def test_each_role_has_its_own_sums() -> None:
    ledger = Ledger()
    model = Metered(Priced(), ledger)
    for role in (Role.AGENT, Role.AGENT, Role.DESIGNER):
        await model.complete(request(role))

    agent = ledger.values()["agent"]
    assert (agent["completions"], agent["prompt_tokens"], agent["cost"]) == (2, 20, 1.0)
    assert (agent["guided"], agent["without_tokens"], agent["unpriced"]) == (2, 0, 0)
    assert ledger.total() == Usage(30, 6, 1.5)
    assert ledger.values()["designer"]["seconds"] == 0.25


async def test_a_cost_nobody_knows_is_counted_as_unknown() -> None:
    ledger = Ledger()
    await Metered(ScriptedModel("x"), ledger).complete(request())

    agent = ledger.values()["agent"]
    assert (agent["cost"], agent["unpriced"], agent["without_tokens"]) == (None, 1, 1)


async def test_failed_calls_are_counted_by_what_was_to_be_done() -> None:
    ledger = Ledger()
    model = Metered(ScriptedModel(Retry("a"), Skip("b"), Abort("c"), BudgetSpent("d")), ledger)
    for _ in range(4):
        with pytest.raises((Retry, Skip, Abort)):
            await model.complete(request())

    assert ledger.values()["agent"]["failed"] == {"retry": 1, "skip": 1, "abort": 2}


@pytest.mark.parametrize(
    ("budget", "calls"),
    [(Budget(calls=3), 3), (Budget(tokens=25), 3), (Budget(cost=0.75), 2), (Budget(seconds=0.0), 0)],
)
async def test_no_call_starts_once_the_budget_is_spent(budget: Budget, calls: int) -> None:
    priced = Priced()
    model = Metered(priced, Ledger(budget))

    for _ in range(calls):
        await model.complete(request())
    with pytest.raises(BudgetSpent, match="is spent"):
        await model.complete(request())
    assert priced.calls == calls


async def test_calls_under_way_are_finished_when_the_budget_is_spent() -> None:
    """What was paid for is kept."""
    ledger = Ledger(Budget(calls=1))
    model = Metered(Priced(), ledger)
    answers = await asyncio.gather(*(model.complete(request()) for _ in range(3)))

    assert [answer.text for answer in answers] == ["x"] * 3
    with pytest.raises(BudgetSpent):
        await model.complete(request())
