"""What generation may use, in one time slice and in total; and why it has to stop at the next slot border."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Spent:
    """Amounts used: episodes stored, tokens in and out, money, seconds of wall clock (by a clock that never jumps)."""

    episodes: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Allowed:
    """The most of each amount; None is without limit."""

    episodes: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    def exceeded(self, spent: Spent) -> Iterator[str]:
        """Each amount that is used up, in words: `500 of 500 episodes`."""
        for name, unit in _UNITS.items():
            limit, used = getattr(self, name), getattr(spent, name)
            if limit is not None and used >= limit:
                yield unit.format(used=_shown(name, used), limit=_shown(name, limit))


@dataclass(frozen=True, slots=True)
class Spending:
    """What one stretch of a time slice used, from one slot border to the next. `ended` is in Unix seconds.

    `why` says why the slice ended there; empty where it went on.
    """

    slice_id: str
    number: int
    cycle_id: str
    ended: float
    episodes: int
    tokens: int
    cost: float
    seconds: float
    why: str = ""

    @property
    def spending_id(self) -> str:
        return f"{self.slice_id}-{self.number:06d}"

    @classmethod
    def of(cls, slice_id: str, number: int, cycle_id: str, ended: float, spent: Spent, why: str) -> Self:
        return cls(slice_id, number, cycle_id, ended, spent.episodes, spent.tokens, spent.cost, spent.seconds, why)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is allowed in a slice and in total. `disk_bytes` bounds all run artifacts."""

    slice: Allowed = Allowed()
    total: Allowed = Allowed()
    disk_bytes: int | None = None

    def reason(self, sliced: Spent, total: Spent, disk_bytes: int, reserved: Spent = Spent()) -> str:
        """Why no further slot may begin; empty when one may. `reserved` is what slots under way will still use."""
        for where, allowed, spent in (("slice", self.slice, sliced), ("total", self.total, total)):
            for what in allowed.exceeded(spent + reserved):
                return f"the {where}'s budget is spent: {what}"
        if self.disk_bytes is not None and disk_bytes >= self.disk_bytes:
            return (
                f"the disk budget is spent: {disk_bytes / 2**20:,.0f} of {self.disk_bytes / 2**20:,.0f} MiB; "
                "`spade maintain` frees some"
            )
        return ""


_UNITS = {
    "episodes": "{used} of {limit} episodes",
    "tokens": "{used} of {limit} tokens",
    "cost": "{used} of {limit} in money",
    "seconds": "{used} of {limit} minutes",
}


def _shown(name: str, amount: float) -> str:
    if name == "seconds":
        return f"{amount / 60:,.1f}"
    return f"{amount:,.2f}" if name == "cost" else f"{amount:,.0f}"
