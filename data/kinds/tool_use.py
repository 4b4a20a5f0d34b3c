"""Conversations with tool calls for supervised tuning. Messages and schemas are JSON columns: as structs, Arrow would
give every message, every call and every schema the keys of all the others, filled with nulls."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.kinds.base import ORIGIN, PLAY, Item, Rows, play_facts, play_lineage
from data.kinds.tool_results import results_of
from data.selection import Chosen, Selection, chosen, select
from spade.acting import TOOLS, items_of, listed_tools
from spade.curation import Pool
from spade.episodes import Episode
from spade.identity import canonical, digest
from spade.skills import Setting
from spade.tool_calls import text_beside_calls

VALUES = {"string": "string", "int64": "int64", "double": "float64", "bool": "bool"}
"""Names of Arrow's types as Hugging Face datasets spells them."""
JSON: Any = pa.list_(pa.json_())


def with_features(schema: pa.Schema) -> pa.Schema:
    """The schema with what Hugging Face datasets needs to read JSON columns as objects (`Json`, from 4.7 on)."""
    features = {
        field.name: {"feature": {"_type": "Json"}, "_type": "List"}
        if field.type == JSON
        else {"dtype": VALUES[str(field.type)], "_type": "Value"}
        for field in schema
    }
    return schema.with_metadata({"huggingface": canonical({"info": {"features": features}})})


@dataclass(frozen=True)
class SftTools(Rows):
    """`messages` and `tools` as TRL's SFTTrainer reads them: calls with their arguments as objects, results as turns of
    the role `tool`. Plays with several calls in one turn are left out where their results cannot be told apart."""

    name: str = "sft-tools"
    about: str = "A row is the conversation of an agent that won a tool-use environment by itself, call by call."
    tags: tuple[str, ...] = ("trl", "sft", "function-calling")

    @property
    def schema(self) -> pa.Schema:
        return with_features(pa.schema([pa.field("messages", JSON), pa.field("tools", JSON), *ORIGIN, *PLAY]))

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        won = select(catalog, [Pool.POSITIVE], cycle_ids, Setting.TOOLS)
        fit = {c.episode.episode_id for c in chosen(catalog, won) if told(c.episode)}
        kept = ((cycle_id, tuple(key for key in keys if key in fit)) for cycle_id, keys in won.by_cycle)
        return Selection(self.name, tuple((cycle_id, keys) for cycle_id, keys in kept if keys))

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for one in chosen(catalog, selection):
            yield self._item(one)

    def _item(self, one: Chosen) -> Item:
        messages = told(one.episode) or []
        declared = listed_tools(one.episode.turns[0].observation)
        tools = [{"type": "function", "function": schema} for schema in declared.values()]
        text = "\n".join(json.dumps(value, ensure_ascii=False) for value in (*messages, *tools))
        facts = {
            **play_facts(one, ()),
            "roles": "".join(message["role"][0] for message in messages),
            "empty_messages": sum(not m["content"].strip() and "tool_calls" not in m for m in messages),
            "content": digest(text),
            "bad_calls": sum(_bad(call, declared) for m in messages for call in m.get("tool_calls", ())),
            "tools": len(tools),
        }
        return Item({"messages": messages, "tools": tools}, play_lineage(one), facts, text)


def _bad(call: dict[str, Any], declared: dict[str, Any]) -> bool:
    function = call["function"]
    return function["name"] not in declared or not isinstance(function["arguments"], dict)


def told(episode: Episode) -> list[dict[str, Any]] | None:
    """The conversation with its calls as data; None where a turn holds several whose results cannot be told apart.

    The first message is less its list of tools, which the column `tools` holds and chat templates show.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": episode.system}] if episode.system else []
    made: list[dict[str, Any]] = []
    for number, turn in enumerate(episode.turns, 1):
        seen = TOOLS.sub("", turn.observation).strip() if number == 1 else turn.observation
        answers = _answered(seen, made)
        items = items_of(turn.action) or []
        made = [_call(number, place, item) for place, item in enumerate(items, 1) if isinstance(item, dict)]
        mixed = len(items) > 1 and len(made) < len(items) and number < len(episode.turns)
        if answers is None or mixed:
            return None
        said: dict[str, Any] = {"role": "assistant", "content": text_beside_calls(turn.reply)}
        if made:
            said["tool_calls"] = made
        else:
            said["content"] = said["content"] or turn.action
        messages += [*answers, said]
    return messages


def _call(number: int, place: int, item: dict[str, Any]) -> dict[str, Any]:
    called = f"call_{number}" if place == 1 else f"call_{number}_{place}"
    return {"id": called, "type": "function", "function": {"name": item["name"], "arguments": item["arguments"]}}


def _answered(seen: str, made: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """What was seen as messages: of the user, or one a call. None where it does not come apart."""
    if not made:
        return [{"role": "user", "content": seen}]
    results = results_of(seen, len(made)) if len(made) > 1 else [seen]
    if results is None:
        return None
    return [
        {"role": "tool", "content": result, "tool_call_id": call["id"], "name": call["function"]["name"]}
        for call, result in zip(made, results, strict=True)
    ]
