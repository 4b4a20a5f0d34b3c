"""Rows of datasets: chat messages as trainers read them, each with its lineage in columns of its own."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from data.selection import Chosen
from spade.curation import transcript_digest
from spade.datasets import DatasetRow
from spade.episodes import Episode
from spade.messages import Message

MESSAGE: Any = pa.struct([pa.field("role", pa.string()), pa.field("content", pa.string())])
_TEXTS = (
    "row_id", "episode_id", "env_id", "attempt_id", "slot_id", "document_id", "prompt_id", "cycle_id", "setting",
    "skill", "arm", "outcome", "model", "weights", "designer", "designer_weights", "split",
)  # fmt: skip
LINEAGE: list[Any] = [
    *(pa.field(name, pa.string()) for name in _TEXTS),
    pa.field("episode_seed", pa.int64()),
    pa.field("slot_seed", pa.int64()),
    pa.field("round", pa.int64()),
    pa.field("play", pa.int64()),
    pa.field("return", pa.float64()),
    pa.field("turns", pa.int64()),
    pa.field("guided", pa.bool_()),
]
SFT_SCHEMA = pa.schema([pa.field("messages", pa.list_(MESSAGE)), *LINEAGE])

FACTS = (*(f.name for f in LINEAGE), "roles", "empty_messages", "transcript", "blemishes", "token_mismatches")
"""What is known of each row when it is checked."""


def conversation(episode: Episode) -> list[Message]:
    """What the agent saw and said, system message first; the last message is the agent's."""
    messages = [Message("system", episode.system)] if episode.system else []
    for turn in episode.turns:
        messages += [Message("user", turn.observation), Message("assistant", turn.reply)]
    return messages


def dataset_row(dataset_id: str, index: int, item: Chosen) -> DatasetRow:
    """The record of one row: what it is made of."""
    asked, chain = item.episode.asked, item.chain
    return DatasetRow(
        dataset_id=dataset_id,
        index=index,
        episode_id=item.episode.episode_id,
        env_id=asked.env_id,
        hint_id=asked.hint_id,
        attempt_id=chain.attempt_id if chain else "",
        slot_id=chain.slot_id if chain else "",
        prompt_id=chain.prompt_id if chain else "",
        document_id=chain.document_id if chain else "",
    )


def sft_row(record: DatasetRow, item: Chosen) -> dict[str, Any]:
    """One conversation in the form of `SFT_SCHEMA`."""
    messages = [{"role": m.role, "content": m.content} for m in conversation(item.episode)]
    return {"messages": messages, **lineage(record, item)}


def lineage(record: DatasetRow, item: Chosen) -> dict[str, Any]:
    """The columns of `LINEAGE`; what was not stored is None."""
    episode, chain = item.episode, item.chain
    asked = episode.asked
    return {
        "row_id": record.row_id,
        "episode_id": record.episode_id,
        "env_id": record.env_id,
        "attempt_id": chain.attempt_id if chain else None,
        "slot_id": chain.slot_id if chain else None,
        "document_id": chain.document_id if chain else None,
        "prompt_id": chain.prompt_id if chain else None,
        "cycle_id": asked.cycle_id,
        "setting": chain.setting if chain else None,
        "skill": chain.skill if chain else None,
        "arm": asked.arm.value,
        "outcome": episode.outcome.value,
        "model": episode.model,
        "weights": episode.weights,
        "designer": chain.designer if chain else None,
        "designer_weights": chain.designer_weights if chain else None,
        "split": record.split,
        "episode_seed": asked.seed,
        "slot_seed": chain.slot_seed if chain else None,
        "round": asked.round,
        "play": asked.play,
        "return": episode.return_,
        "turns": len(episode.turns),
        "guided": any(turn.guided for turn in episode.turns),
    }


def facts(row: Mapping[str, Any], item: Chosen) -> dict[str, Any]:
    """What the expectations look at: the row's lineage and what can be counted of its messages and tokens."""
    messages = row["messages"]
    return {
        **{name: value for name, value in row.items() if name != "messages"},
        "roles": "".join(m["role"][0] for m in messages),
        "empty_messages": sum(not m["content"].strip() for m in messages),
        "transcript": transcript_digest(item.episode),
        "blemishes": len(item.blemishes),
        "token_mismatches": sum(_mismatched(item.episode)),
    }


def _mismatched(episode: Episode) -> list[bool]:
    """One truth value a turn with tokens: whether it has not exactly one log-probability an output token."""
    return [
        t.tokens.output_ids is not None
        and t.tokens.logprobs is not None
        and len(t.tokens.output_ids) != len(t.tokens.logprobs)
        for t in episode.turns
        if t.tokens is not None
    ]
