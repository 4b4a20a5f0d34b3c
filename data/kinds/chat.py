"""Conversations for supervised tuning: whole ones, one row a turn, and ones with a label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from data.catalog import Catalog
from data.kinds.base import MESSAGES, ORIGIN, PLAY, TEXT, Item, Rows, conversation, play_facts, play_lineage, said
from data.selection import Chosen, Selection, chosen, select
from spade.curation import Pool
from spade.identity import digest


@dataclass(frozen=True)
class Sft(Rows):
    """`messages`: whole conversations that were won (TRL's SFTTrainer; verl's multi-turn SFT reads the same column)."""

    name: str = "sft"
    about: str = "A row is the conversation of an agent that won an environment by itself; each was replayed first."
    tags: tuple[str, ...] = ("trl", "sft")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("messages", MESSAGES), *ORIGIN, *PLAY])

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        return select(catalog, [Pool.POSITIVE], cycle_ids)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for one in chosen(catalog, selection):
            messages = conversation(one.episode)
            text = "\n".join(m.content for m in messages)
            facts = {**play_facts(one, messages), "content": digest(text)}
            yield Item({"messages": said(messages)}, play_lineage(one), facts, text)


@dataclass(frozen=True)
class PromptCompletion(Rows):
    """`prompt` and `completion`: one row a turn, so that only the agent's words carry loss (TRL's SFTTrainer).

    Conversations that begin alike share rows: each is written once.
    """

    name: str = "prompt-completion"
    about: str = "A row is one turn of a conversation that was won: all that was said before it, and the agent's reply."
    tags: tuple[str, ...] = ("trl", "sft")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(
            [
                pa.field("prompt", MESSAGES),
                pa.field("completion", MESSAGES),
                pa.field("turn", pa.int64()),
                *ORIGIN,
                *PLAY,
            ]
        )

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        return select(catalog, [Pool.POSITIVE], cycle_ids)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        seen: set[str] = set()
        for item in (item for one in chosen(catalog, selection) for item in self._turns(one)):
            if item.facts["content"] not in seen:
                seen.add(item.facts["content"])
                yield item

    def _turns(self, one: Chosen) -> Iterator[Item]:
        messages = conversation(one.episode)
        lineage = play_lineage(one)
        for at in (i for i, message in enumerate(messages) if message.role == "assistant"):
            before, reply = messages[:at], messages[at]
            content = {
                "prompt": said(before),
                "completion": said([reply]),
                "turn": sum(m.role == "assistant" for m in before) + 1,
            }
            text = "\n".join(m.content for m in (*before[-1:], reply))
            facts = {
                **play_facts(one, messages[: at + 1]),
                "content": digest("\n".join(m.content for m in messages[: at + 1])),
            }
            yield Item(content, lineage, facts, text)


@dataclass(frozen=True)
class Kto(Rows):
    """`prompt`, `completion` and `label`: wins are true, hard negatives false (TRL's KTOTrainer)."""

    name: str = "kto"
    about: str = "A row is a conversation after its first message from the environment; label tells a win from a loss."
    tags: tuple[str, ...] = ("trl", "kto")

    @property
    def schema(self) -> pa.Schema:
        fields = [pa.field("prompt", MESSAGES), pa.field("completion", MESSAGES), pa.field("label", pa.bool_())]
        return pa.schema([*fields, pa.field("pool", TEXT), *ORIGIN, *PLAY])

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        return select(catalog, [Pool.POSITIVE, Pool.HARD_NEGATIVE], cycle_ids)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for one in chosen(catalog, selection):
            messages = conversation(one.episode)
            start = first_reply(messages)
            label = bool(one.episode.won)
            content = {
                "prompt": said(messages[:start]),
                "completion": said(messages[start:]),
                "label": label,
                "pool": (Pool.POSITIVE if label else Pool.HARD_NEGATIVE).value,
            }
            text = "\n".join(m.content for m in messages)
            yield Item(
                content, play_lineage(one), {**play_facts(one, messages), "content": digest(text), "label": label}, text
            )


def first_reply(messages: Sequence[object]) -> int:
    """Where the agent first speaks: everything before is the prompt."""
    return next(i for i, m in enumerate(messages) if getattr(m, "role", "") == "assistant")
