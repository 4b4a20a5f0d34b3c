"""The expectations of each dataset kind, as data: what must hold for every row before it leaves."""

from dataclasses import dataclass, field, replace
from typing import Any

from data.kinds.base import COMMON_FACTS, ORIGIN, PLAY, PLAY_FACTS
from data.kinds.pool import ENVIRONMENT
from data.kinds.tasks import TASK, ZONE
from spade.episodes import WIN
from spade.skills import Setting, Skill

_IDS = {
    "row_id": "row", "episode_id": "ep", "env_id": "env", "attempt_id": "attempt", "slot_id": "slot",
    "document_id": "doc", "prompt_id": "prompt", "cycle_id": "cycle",
}  # fmt: skip


@dataclass(frozen=True)
class Expectation:
    """One expectation by the name that Great Expectations gives it; of the rows alone where a column has a value."""

    type: str
    arguments: dict[str, Any] = field(default_factory=dict)
    where: tuple[str, str] | None = None


def table(what: str, **arguments: Any) -> Expectation:
    return Expectation(f"expect_table_{what}", arguments)


def values(column: str, what: str, **arguments: Any) -> Expectation:
    return Expectation(f"expect_column_values_to_{what}", {"column": column, **arguments})


def one_of(column: str, *allowed: Any) -> Expectation:
    return values(column, "be_in_set", value_set=list(allowed))


def columns(*facts: str, fields: tuple[Any, ...] = (*ORIGIN, *PLAY)) -> Expectation:
    """Exactly the columns of lineage and the facts named, so that no expectation runs over nothing."""
    names = [*(f.name for f in fields), *COMMON_FACTS, "document_splits", *facts]
    return table("columns_to_match_set", column_set=sorted(names), exact_match=True)


def _traced(*ids: str) -> tuple[Expectation, ...]:
    """Every one of these ids is there and has its form."""
    return (
        *(values(column, "not_be_null") for column in ids),
        *(values(column, "match_regex", regex=f"^{_IDS[column]}-[0-9a-f]{{16}}$") for column in ids),
    )


ANY = (
    table("row_count_to_be_between", min_value=1),
    *_traced(*(name for name in _IDS if name != "episode_id")),
    values("designer", "not_be_null"),
    values("slot_seed", "not_be_null"),
    values("row_id", "be_unique"),
    values("content", "be_unique"),
    one_of("setting", *(s.value for s in Setting)),
    one_of("skill", *(s.value for s in Skill)),
    one_of("split", "train", "validation", "test"),
    one_of("document_splits", 1),
    one_of("blemishes", 0),
    one_of("findings", 0),
)
"""Every row can be traced, no two say the same, no document is in two splits, nothing was mended in the store, and the
scan for secrets and personal data found nothing."""

MEASURED = (
    *ANY,
    *_traced("episode_id"),
    one_of("arm", "plain"),
    one_of("outcome", "completed", "truncated"),
    values("model", "not_be_null"),
    values("weights", "not_be_null"),
    values("return", "not_be_null"),
    values("return", "be_between", min_value=0.0, max_value=2 - WIN),
    values("turns", "be_between", min_value=1, max_value=25),
    one_of("empty_messages", 0),
    one_of("token_mismatches", 0),
)
"""Plays: measured, by the agent itself, no message empty."""

PLAYED = (*MEASURED, values("roles", "match_regex", regex="^s?(?:ua)+$"))
"""Plays whose roles take turns."""

TASKS = (
    columns("observed", fields=tuple(TASK)),
    *ANY,
    values("seed", "not_be_null"),
    values("win_rate", "be_between", min_value=ZONE[0], max_value=ZONE[1]),
    values("observed", "be_between", min_value=1),
    Expectation("expect_compound_columns_to_be_unique", {"column_list": ["env_id", "seed"]}),
)
"""Tasks: each once, from an environment that can teach, with something to see."""

RARE = 0.1
"""The least share of each label: with fewer, a tenth of the rows decides what the others mean (Ethayarajh et al. 2024
drop up to nine of ten wins without loss, and no more)."""
_OF_PLAYS = frozenset(f.name for f in (*ORIGIN, *PLAY) if f.name not in ("row_id", "split"))


def of_plays(expectation: Expectation) -> Expectation:
    """The same for the rows that are plays: what people wrote has no environment behind it."""
    return replace(expectation, where=("origin", "play"))


_WON = values("return", "be_between", min_value=WIN, max_value=2 - WIN)
SUITES: dict[str, tuple[Expectation, ...]] = {
    "sft": (columns(*PLAY_FACTS), *PLAYED, _WON, values("episode_id", "be_unique"), values("transcript", "be_unique")),
    "sft-mixed": (
        columns(*PLAY_FACTS, "origin"),
        *(of_plays(e) if e.arguments.get("column") in _OF_PLAYS else e for e in (*PLAYED, _WON)),
        one_of("origin", "play", "human"),
        values("document_id", "not_be_null"),
        values("document_id", "match_regex", regex="^(?:doc|human)-[0-9a-f]{16}$"),
        values("transcript", "be_unique"),
    ),
    "sft-tools": (
        columns(*PLAY_FACTS, "bad_calls", "tools"),
        *MEASURED,
        _WON,
        values("roles", "match_regex", regex="^s?ua(?:(?:u|t+)a)*$"),
        values("episode_id", "be_unique"),
        values("transcript", "be_unique"),
        one_of("bad_calls", 0),
        values("tools", "be_between", min_value=1),
    ),
    "pool": (
        columns(fields=tuple(ENVIRONMENT)),
        *ANY,
        values("env_id", "be_unique"),
        values("win_rate", "be_between", min_value=ZONE[0], max_value=ZONE[1]),
    ),
    "atif": (columns(*PLAY_FACTS), *PLAYED, values("episode_id", "be_unique")),
    **dict.fromkeys(("grpo", "verl", "slime", "nemo-gym", "gymnasium", "openenv", "verifiers", "harbor"), TASKS),
    "prompt-completion": (columns(*PLAY_FACTS), *PLAYED, _WON),
    "kto": (
        columns(*PLAY_FACTS, "label"),
        *PLAYED,
        values("episode_id", "be_unique"),
        one_of("label", True, False),
        Expectation("expect_column_distinct_values_to_contain_set", {"column": "label", "value_set": [True, False]}),
        Expectation("expect_column_mean_to_be_between", {"column": "label", "min_value": RARE, "max_value": 1 - RARE}),
    ),
    "dpo": (
        columns(*PLAY_FACTS, "rejected_roles", "rejected_return", "same_prompt"),
        *PLAYED,
        _WON,
        values("episode_id", "be_unique"),
        values("rejected_roles", "match_regex", regex="^s?(?:ua)+$"),
        values("rejected_return", "be_between", min_value=0.0, max_value=WIN),
        one_of("same_prompt", True),
    ),
}
