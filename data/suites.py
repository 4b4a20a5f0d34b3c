"""The expectations of each dataset kind, as data: what must hold for every row before it leaves."""

from dataclasses import dataclass, field
from typing import Any

from data.rows import FACTS
from spade.episodes import WIN
from spade.skills import Setting, Skill

_IDS = {
    "row_id": "row", "episode_id": "ep", "env_id": "env", "attempt_id": "attempt", "slot_id": "slot",
    "document_id": "doc", "prompt_id": "prompt", "cycle_id": "cycle",
}  # fmt: skip


@dataclass(frozen=True)
class Expectation:
    """One expectation by the name that Great Expectations gives it."""

    type: str
    arguments: dict[str, Any] = field(default_factory=dict)


def table(what: str, **arguments: Any) -> Expectation:
    return Expectation(f"expect_table_{what}", arguments)


def values(column: str, what: str, **arguments: Any) -> Expectation:
    return Expectation(f"expect_column_values_to_{what}", {"column": column, **arguments})


def one_of(column: str, *allowed: Any) -> Expectation:
    return values(column, "be_in_set", value_set=list(allowed))


LINEAGE = (
    *(values(column, "not_be_null") for column in (*_IDS, "model", "weights", "designer", "slot_seed")),
    *(values(column, "match_regex", regex=f"^{kind}-[0-9a-f]{{16}}$") for column, kind in _IDS.items()),
    values("row_id", "be_unique"),
    one_of("setting", *(s.value for s in Setting)),
    one_of("skill", *(s.value for s in Skill)),
    one_of("split", "train", "validation", "test"),
    one_of("blemishes", 0),
    one_of("token_mismatches", 0),
)
"""Every row can be traced, and nothing of it was mended on the way into the store."""

SFT = (
    table("row_count_to_be_between", min_value=1),
    table("columns_to_match_set", column_set=sorted(FACTS), exact_match=True),
    *LINEAGE,
    values("episode_id", "be_unique"),
    one_of("arm", "plain"),
    one_of("outcome", "completed", "truncated"),
    values("return", "not_be_null"),
    values("return", "be_between", min_value=WIN, max_value=2 - WIN),
    values("turns", "be_between", min_value=1, max_value=25),
    values("roles", "match_regex", regex="^s?(?:ua)+$"),
    one_of("empty_messages", 0),
    values("transcript", "be_unique"),
)
"""Conversations that won by themselves: roles in turn, none empty, none twice."""

SUITES: dict[str, tuple[Expectation, ...]] = {"sft": SFT}
