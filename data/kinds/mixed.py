"""Conversations of the agent and, at a set share, ones that people wrote."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from data.catalog import Catalog
from data.human import split_off
from data.kinds.base import MESSAGES, ORIGIN, PLAY, PLAY_FACTS, TEXT, Item, said
from data.kinds.chat import Sft
from data.selection import Selection
from data.tables import HUMAN_ROWS
from spade.human import HumanRow
from spade.identity import canonical, digest

_PER_ROW = ("row_id", "split")
LINEAGE = tuple(f.name for f in (*ORIGIN, *PLAY) if f.name not in _PER_ROW)


@dataclass(frozen=True)
class SftMixed(Sft):
    """`messages` as in `sft`, and `origin`: `play` or `human`. Of what people wrote, `document_id` is the row's own id,
    from which `spade lineage` leads to file and line; the columns that tell of a play are null."""

    name: str = "sft-mixed"
    about: str = "A row is the conversation of an agent that won, or one that a person wrote; `origin` says which."
    tags: tuple[str, ...] = ("trl", "sft")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("messages", MESSAGES), pa.field("origin", TEXT), *ORIGIN, *PLAY])

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        plays, human = split_off(selection)
        for item in super().items(catalog, plays):
            yield Item({**item.content, "origin": "play"}, item.lineage, {**item.facts, "origin": "play"}, item.text)
        rows = {row.human_id: row for row in catalog.read(HUMAN_ROWS, human_id=human)} if human else {}
        for human_id in human:
            yield _item(rows[human_id])


def _item(row: HumanRow) -> Item:
    text = "\n".join(message.content for message in row.messages)
    told = dict.fromkeys(PLAY_FACTS)
    facts = {
        **told,
        "roles": "".join(message.role[0] for message in row.messages),
        "empty_messages": 0,
        "token_mismatches": 0,
        "transcript": digest(canonical([message.wire() for message in row.messages])),
        "blemishes": 0,
        "content": digest(text),
        "origin": "human",
    }
    lineage = {**dict.fromkeys(LINEAGE), "document_id": row.human_id}
    return Item({"messages": said(row.messages), "origin": "human"}, lineage, facts, text)
