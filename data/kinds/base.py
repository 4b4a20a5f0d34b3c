"""What every kind of dataset has in common: items with content, lineage, facts to check, and text to scan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from data.catalog import Catalog
from data.selection import Chain, Chosen, Selection
from spade.curation import transcript_digest
from spade.datasets import DatasetRow
from spade.episodes import Episode
from spade.messages import Message

TEXT: Any = pa.string()
MESSAGE: Any = pa.struct([pa.field("role", TEXT), pa.field("content", TEXT)])
MESSAGES: Any = pa.list_(MESSAGE)
_CHAIN = (
    "env_id", "attempt_id", "slot_id", "document_id", "prompt_id", "cycle_id", "setting", "skill", "designer",
    "designer_weights",
)  # fmt: skip
ORIGIN: list[Any] = [
    *(pa.field(name, TEXT) for name in ("row_id", "split", "episode_id", *_CHAIN)),
    pa.field("slot_seed", pa.int64()),
]
"""Columns that lead from a row back to its document; the first two are set when the row is written."""
PLAY: list[Any] = [
    *(pa.field(name, TEXT) for name in ("arm", "outcome", "model", "weights")),
    pa.field("episode_seed", pa.int64()),
    pa.field("round", pa.int64()),
    pa.field("play", pa.int64()),
    pa.field("return", pa.float64()),
    pa.field("turns", pa.int64()),
    pa.field("guided", pa.bool_()),
]
"""Columns on the play that a row is made of."""
PLAY_FACTS = ("roles", "empty_messages", "transcript", "token_mismatches")
COMMON_FACTS = ("blemishes", "findings", "content")
"""Facts of every row: what was mended in the store, secrets and personal data found, a digest of the content."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row to be. `lineage` has the columns of `ORIGIN` less the first two and, for plays, of `PLAY`.

    `facts` are what the expectations look at beyond lineage; `text` is everything a person could read in the row.
    """

    content: Mapping[str, Any]
    lineage: Mapping[str, Any]
    facts: Mapping[str, Any]
    text: str
    hint_id: str = ""
    paired_episode_id: str = ""


class Kind(Protocol):
    """One kind of dataset. `fields` are its content columns; `suite` names its expectations."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """A sentence for the card: what a row is."""
        ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def schema(self) -> pa.Schema:
        """All columns of a row: content, then lineage."""
        ...

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection: ...

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        """The rows of a selection, in its order."""
        ...

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        """Write what the rows need beside them: programs, a module for the trainer."""
        ...


class Rows:
    """What kinds whose rows are all there is need not write themselves."""

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        return None


def said(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as trainers read them: role and content alone, so that all rows have the same columns."""
    return [{"role": m.role, "content": m.content} for m in messages]


def conversation(episode: Episode) -> list[Message]:
    """What the agent saw and said, system message first; the last message is the agent's."""
    messages = [Message("system", episode.system)] if episode.system else []
    for turn in episode.turns:
        messages += [Message("user", turn.observation), Message("assistant", turn.reply)]
    return messages


def origin(chain: Chain | None, episode: Episode) -> dict[str, Any]:
    """The columns of `ORIGIN` of a play; what was not stored is None."""
    return {**origin_of_task(chain, episode.asked.env_id, episode.asked.cycle_id), "episode_id": episode.episode_id}


def origin_of_task(chain: Chain | None, env_id: str, cycle_id: str) -> dict[str, Any]:
    """The columns of `ORIGIN` of a row that is no play."""
    known: dict[str, Any] = {name: getattr(chain, name) if chain else None for name in (*_CHAIN, "slot_seed")}
    return {**known, "env_id": env_id, "cycle_id": cycle_id}


def play_lineage(item: Chosen) -> dict[str, Any]:
    """The columns of `ORIGIN` and `PLAY` of an episode."""
    episode, asked = item.episode, item.episode.asked
    return {
        **origin(item.chain, episode),
        "arm": asked.arm.value,
        "outcome": episode.outcome.value,
        "model": episode.model,
        "weights": episode.weights,
        "episode_seed": asked.seed,
        "round": asked.round,
        "play": asked.play,
        "return": episode.return_,
        "turns": len(episode.turns),
        "guided": any(turn.guided for turn in episode.turns),
    }


def play_facts(item: Chosen, messages: Sequence[Message]) -> dict[str, Any]:
    """The facts of `PLAY_FACTS` and the blemishes of an episode whose row shows `messages`."""
    return {
        "roles": "".join(m.role[0] for m in messages),
        "empty_messages": sum(not m.content.strip() for m in messages),
        "transcript": transcript_digest(item.episode),
        "token_mismatches": sum(_mismatched(item.episode)),
        "blemishes": len(item.blemishes),
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


def dataset_row(dataset_id: str, index: int, split: str, item: Item) -> DatasetRow:
    """The record of one row: what it is made of."""
    lineage = item.lineage
    return DatasetRow(
        dataset_id=dataset_id,
        index=index,
        episode_id=lineage.get("episode_id") or "",
        env_id=lineage["env_id"] or "",
        paired_episode_id=item.paired_episode_id,
        hint_id=item.hint_id,
        attempt_id=lineage["attempt_id"] or "",
        slot_id=lineage["slot_id"] or "",
        prompt_id=lineage["prompt_id"] or "",
        document_id=lineage["document_id"] or "",
        split=split,
    )
