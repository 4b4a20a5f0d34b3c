"""Preference pairs for DPO: a win and a loss of one environment on one seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.kinds.base import MESSAGES, ORIGIN, PLAY, TEXT, Item, Rows, conversation, play_facts, play_lineage, said
from data.kinds.chat import first_reply
from data.selection import Chosen, Selection, chosen, select
from spade.curation import Pool
from spade.identity import digest
from spade.pairs import preference_pairs

_REJECTED: list[Any] = [pa.field("rejected_episode_id", TEXT), pa.field("rejected_return", pa.float64())]


@dataclass(frozen=True)
class Dpo(Rows):
    """`prompt`, `chosen` and `rejected`; lineage is that of the win (TRL's DPOTrainer)."""

    name: str = "dpo"
    about: str = "A row is a win and a loss of the same environment on the same seed, after the same first message."
    tags: tuple[str, ...] = ("trl", "dpo")

    @property
    def schema(self) -> pa.Schema:
        content = [pa.field(name, MESSAGES) for name in ("prompt", "chosen", "rejected")]
        return pa.schema([*content, *_REJECTED, *ORIGIN, *PLAY])

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        """Keys are `win loss`, two episode ids. An environment's plays of several cycles are not compared."""
        both = select(catalog, [Pool.POSITIVE, Pool.HARD_NEGATIVE], cycle_ids)
        by_cycle = []
        for cycle_id, ids in both.by_cycle:
            episodes = [c.episode for c in chosen(catalog, Selection(self.name, ((cycle_id, ids),)))]
            pairs = preference_pairs([e for e in episodes if e.won], [e for e in episodes if not e.won])
            if keys := tuple(f"{pair.chosen_id} {pair.rejected_id}" for pair in pairs):
                by_cycle.append((cycle_id, keys))
        return Selection(self.name, tuple(by_cycle))

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for cycle_id, keys in selection.by_cycle:
            ids = tuple(dict.fromkeys(id_ for key in keys for id_ in key.split()))
            plays = {c.episode.episode_id: c for c in chosen(catalog, Selection(self.name, ((cycle_id, ids),)))}
            for key in keys:
                won, lost = (plays[id_] for id_ in key.split())
                yield self._pair(won, lost)

    def _pair(self, won: Chosen, lost: Chosen) -> Item:
        better, worse = conversation(won.episode), conversation(lost.episode)
        start = first_reply(better)
        content = {
            "prompt": said(better[:start]),
            "chosen": said(better[start:]),
            "rejected": said(worse[start:]),
            "rejected_episode_id": lost.episode.episode_id,
            "rejected_return": lost.episode.return_,
        }
        text = "\n".join(m.content for m in (*better, *worse[start:]))
        facts = {
            **play_facts(won, better),
            "content": digest(text),
            "blemishes": len(won.blemishes) + len(lost.blemishes),
            "rejected_roles": "".join(m.role[0] for m in worse),
            "rejected_return": lost.episode.return_,
            "same_prompt": said(better[:start]) == said(worse[:start]),
        }
        return Item(content, play_lineage(won), facts, text, paired_episode_id=lost.episode.episode_id)
