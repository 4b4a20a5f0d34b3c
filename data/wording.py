"""What columns and expectations say, in words for whoever opens a dataset: on its card and the page of its checks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MEANINGS: dict[str, str] = {
    "messages": "the conversation, message by message",
    "prompt": "what the model is shown",
    "completion": "the reply to the prompt",
    "chosen": "the rest of the play that won",
    "rejected": "the rest of the play that lost",
    "label": "whether the play won; for slime, environment and seed",
    "tools": "schemas of the tools",
    "trajectory": "the play as ATIF JSON",
    "observation": "what the environment says first",
    "system": "the system message",
    "code": "the program",
    "file": "the program's file under games/",
    "title": "the environment's title",
    "seed": "the seed the task is reset with",
    "row_id": "the row's own id; spade lineage leads from it to its document",
    "split": "the file that the row is in",
    "origin": "play, or human for what people wrote",
    "episode_id": "the play",
    "rejected_episode_id": "the play that lost",
    "env_id": "the environment that was played",
    "attempt_id": "the design that became the environment",
    "slot_id": "the place of the design in its cycle",
    "document_id": "the passage it was made from",
    "prompt_id": "what the designer was asked",
    "cycle_id": "the round of the factory that it was made in",
    "setting": "the kind of environment",
    "skill": "what the environment trains",
    "designer": "the model that wrote the environment",
    "designer_weights": "the weights of the designer",
    "slot_seed": "the seed of the design",
    "arm": "whether the play had the hint: plain is without",
    "outcome": "how the play ended",
    "model": "the model that played",
    "weights": "the weights of the model that played",
    "episode_seed": "the seed of the play",
    "round": "the round of the play within its cycle",
    "play": "the number of the play",
    "turn": "the turn that the completion is of",
    "return": "the sum of its rewards, 1 for a win",
    "rejected_return": "the return of the play that lost",
    "turns": "the agent's turns",
    "guided": "whether a grammar held any of its turns",
    "win_rate": "share of its measured plays that won without a hint",
    "regret": "what the hint gained in return, on the same seeds",
    "pool": "why the play is here: positive or hard negative",
    "findings": "secrets and personal data that the scan found in the row or its document",
    "blemishes": "texts and numbers that could not be stored as they came",
    "document_splits": "how many splits the row's document is in",
    "content": "a digest of all that the row says",
    "transcript": "a digest of the whole conversation",
    "roles": "the order of roles: s system, u user, a assistant, t tool",
    "empty_messages": "messages without text",
    "token_mismatches": "turns with another number of log-probabilities than of tokens",
    "bad_calls": "calls of tools that nobody declared, or without arguments",
    "observed": "characters of the first observation",
    "rejected_roles": "the same order in the play that lost",
    "same_prompt": "whether both plays begin with the same words",
}
"""Of the columns of rows, and of the facts that only the expectations look at."""


def expected(kind: str, arguments: Mapping[str, Any]) -> str:
    """An expectation by the name that Great Expectations gives it, as a sentence that begins with its column."""
    column = str(arguments.get("column", ""))
    words = _WORDS.get(kind.removeprefix("expect_"))
    said = words(arguments) if words else f"{kind.removeprefix('expect_').replace('_', ' ')} {dict(arguments)}"
    condition = arguments.get("row_condition")
    about = f" ({MEANINGS[column]})" if column in MEANINGS else ""
    return f"{column} {said}".strip() + about + (" - rows that are plays alone" if condition else "")


def _all(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)


def _in_set(arguments: Mapping[str, Any]) -> str:
    allowed = list(arguments["value_set"])
    return f"is {allowed[0]} in every row" if len(allowed) == 1 else f"is one of: {_all(allowed)}"


def _between(arguments: Mapping[str, Any]) -> str:
    low, high = arguments.get("min_value"), arguments.get("max_value")
    if high is None:
        return f"is {_number(low)} or more"
    return f"is at most {_number(high)}" if low is None else f"lies between {_number(low)} and {_number(high)}"


def _number(value: Any) -> str:
    return f"{value:.6g}"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "table_columns_to_match_set": lambda a: f"The rows have these facts and no others: {_all(a['column_set'])}",
    "table_row_count_to_be_between": lambda a: f"The number of rows {_between(a)}",
    "column_values_to_not_be_null": lambda _: "is never missing",
    "column_values_to_be_unique": lambda _: "is never the same twice",
    "column_values_to_match_regex": lambda a: f"has the form {a['regex']}",
    "column_values_to_be_in_set": _in_set,
    "column_values_to_be_between": _between,
    "column_distinct_values_to_contain_set": lambda a: f"has each of: {_all(a['value_set'])}",
    "column_mean_to_be_between": lambda a: f"mean {_between(a)}",
    "compound_columns_to_be_unique": lambda a: f"{' and '.join(a['column_list'])} together are never the same twice",
}
