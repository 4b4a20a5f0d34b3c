"""What the models of a run were asked, answered and cost, per role; and where it has to stop."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from spade.errors import Abort, SpadeError
from spade.messages import Completion, Request, Role, Usage
from spade.ports import Model


class BudgetSpent(Abort):
    """The run's budget is used up. Not a fault: finish what is under way, store it, and end."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run, or a time slice of it, may use; None is without limit. Calls under way when a limit is reached are
    finished, so it is overshot by at most what those cost."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Account:
    """One role's sums. `unpriced`: completions whose cost nobody knows; `without_tokens`: completions that can feed
    SFT only; `failed`: calls that ended in an error, by its name."""

    completions: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    guided: int = 0
    unpriced: int = 0
    without_tokens: int = 0
    cut_short: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, completion: Completion) -> None:
        self.completions += 1
        self.usage += completion.usage
        self.seconds += completion.seconds
        self.guided += completion.guided
        self.unpriced += completion.usage.cost is None
        tokens = completion.tokens
        self.without_tokens += tokens is None or None in (tokens.prompt_ids, tokens.output_ids, tokens.logprobs)
        self.cut_short += completion.finish_reason == "length"

    def values(self) -> dict[str, Any]:
        """The sums as JSON values."""
        return {
            "completions": self.completions,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost": self.usage.cost,
            "seconds": self.seconds,
            "guided": self.guided,
            "unpriced": self.unpriced,
            "without_tokens": self.without_tokens,
            "cut_short": self.cut_short,
            "failed": dict(self.failed),
        }


class Ledger:
    """The accounts of all roles, held against a budget. Its clock starts when it is made."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.accounts: dict[Role, Account] = {}
        self._started = time.monotonic()

    def account(self, role: Role) -> Account:
        return self.accounts.setdefault(role, Account())

    def total(self) -> Usage:
        return sum((account.usage for account in self.accounts.values()), Usage())

    def values(self) -> dict[str, dict[str, Any]]:
        """Every role's sums as JSON values, for a report or a stored record."""
        return {role.value: account.values() for role, account in self.accounts.items()}

    def check(self) -> None:
        """Raises `BudgetSpent` when no further call may start."""
        total, budget = self.total(), self.budget
        calls = sum(account.completions + account.failed.total() for account in self.accounts.values())
        spent = {
            "calls": (calls, budget.calls),
            "tokens": (total.prompt_tokens + total.completion_tokens, budget.tokens),
            "cost": (total.cost or 0.0, budget.cost),
            "seconds": (time.monotonic() - self._started, budget.seconds),
        }
        for name, (used, limit) in spent.items():
            if limit is not None and used >= limit:
                raise BudgetSpent(f"The budget of {limit:g} {name} is spent.", "Start again with a new one to go on.")


class Metered:
    """A model whose calls are entered in a ledger, and refused when its budget is spent."""

    def __init__(self, model: Model, ledger: Ledger) -> None:
        self._model = model
        self._ledger = ledger

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def weights(self) -> str:
        return self._model.weights

    async def complete(self, request: Request) -> Completion:
        """As the model's own; also raises `BudgetSpent`."""
        self._ledger.check()
        account = self._ledger.account(request.role)
        try:
            completion = await self._model.complete(request)
        except SpadeError as error:
            account.failed[_cause(error)] += 1
            raise
        account.add(completion)
        return completion


def _cause(error: SpadeError) -> str:
    """`retry`, `skip` or `abort`, whatever the subclass."""
    return next(kind.__name__.lower() for kind in type(error).__mro__ if kind.__module__ == SpadeError.__module__)
