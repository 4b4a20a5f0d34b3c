"""Conversations that people wrote, to be mixed into datasets: what one looks like, and how many make a share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from spade.errors import Abort, Skip
from spade.identity import content_id, rng_for
from spade.messages import Message

FORM = "s?(?:ua)+"
"""The first letters of the roles, as a pattern: perhaps a system message, then user and assistant in turns."""


@dataclass(frozen=True, slots=True)
class HumanRow:
    """One conversation. Equal conversations are the same row, wherever they came from; `line` counts from 1."""

    messages: tuple[Message, ...]
    source: str
    line: int
    license: str = ""

    @property
    def human_id(self) -> str:
        return content_id("human", [message.wire() for message in self.messages])


def read_human(line: Any, source: str, number: int, license: str) -> HumanRow:
    """A row from JSON values: `messages`, or `prompt` and `completion` as texts. Raises `Skip` with what is wrong."""
    if not isinstance(line, dict):
        raise Skip("it is not an object.")
    spoken = line.get("messages")
    if spoken is None and isinstance(line.get("prompt"), str) and isinstance(line.get("completion"), str):
        spoken = [{"role": "user", "content": line["prompt"]}, {"role": "assistant", "content": line["completion"]}]
    if not isinstance(spoken, list):
        raise Skip("it has neither messages nor a prompt and a completion.")
    messages = tuple(_message(each) for each in spoken)
    roles = [message.role for message in messages]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    if not turns or turns != ["user", "assistant"] * (len(turns) // 2):
        raise Skip(f"its roles are {', '.join(roles) or 'none'}; user and assistant must take turns, user first.")
    return HumanRow(messages, source, number, str(line.get("license") or license))


def _message(value: Any) -> Message:
    roles = get_args(get_type_hints(Message)["role"])
    if not isinstance(value, dict) or value.get("role") not in roles or not isinstance(value.get("content"), str):
        raise Skip("a message has no role or no text.")
    if not value["content"].strip():
        raise Skip("a message is empty.")
    return Message(value["role"], value["content"])


def drawn_share(ids: Iterable[str], share: float, others: int, seed: int) -> list[str]:
    """So many of `ids` that they make `share` of the whole beside `others` rows, at random, the same for a seed.

    Raises `Abort` when there are too few, with the share that could be had.
    """
    there = sorted(set(ids))
    wanted = round(others * share / (1.0 - share))
    if wanted > len(there):
        most = len(there) / (len(there) + others)
        raise Abort(
            f"a share of {share:g} asks for {wanted} rows that people wrote; {len(there)} are stored.",
            f"Add more with --human FILE, or take --human-share {int(most * 1000) / 1000:g}.",
        )
    return sorted(rng_for(seed, "human").sample(there, wanted))
