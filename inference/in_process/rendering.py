"""Conversations as token ids: the tokenizer's own chat template and vocabulary, without doing the same work twice.

Special tokens cut a text into pieces that are tokenised apart, so each piece is looked up once. A tokenizer that does
not work like that, which is tried when it is opened, is asked for the whole text each time.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

PIECES = 65536
"""Pieces whose ids stay at hand."""
_TRIED: tuple[dict[str, str], ...] = (
    {"role": "user", "content": "Walk to 2 flags.  Row 1.\n "},
    {"role": "assistant", "content": "\\boxed{up}"},
    {"role": "user", "content": " A wall! It is above."},
)


class Renderer:
    """Turns messages in OpenAI's form into prompt ids."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._pieces: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        special = [t.content for t in tokenizer.added_tokens_decoder.values() if t.special]
        self._cut = re.compile("(" + "|".join(map(re.escape, sorted(special, key=len, reverse=True))) + ")")
        self._ids = dict(zip(special, tokenizer.convert_tokens_to_ids(special), strict=True))
        self._template = self._compiled()
        self._in_pieces = bool(special) and self._same_in_pieces()

    def ids(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()) -> list[int]:
        """The prompt up to where the assistant goes on."""
        text = self.text(messages, tools)
        return self._of_pieces(text) if self._in_pieces else self._whole(text)

    def text(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()) -> str:
        if self._template is None or tools:
            return self._slowly(messages, tools)
        return str(self._template.render(messages=messages, add_generation_prompt=True, **self._names()))

    def _slowly(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> str:
        listed = list(tools) or None
        rendered = self._tokenizer.apply_chat_template(
            list(messages), tools=listed, tokenize=False, add_generation_prompt=True
        )
        return str(rendered)

    def _compiled(self) -> Any:
        """The chat template alone; None when it needs more than messages to say the same as the tokenizer."""
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        try:
            template = environment.from_string(self._tokenizer.chat_template)
            said = template.render(messages=_TRIED, add_generation_prompt=True, **self._names())
        except Exception:  # noqa: BLE001 - whatever a template does, the tokenizer's own way is there
            return None
        return template if said == self._slowly(_TRIED, ()) else None

    def _names(self) -> dict[str, Any]:
        return {
            name: str(value) for name, value in self._tokenizer.special_tokens_map.items() if isinstance(value, str)
        }

    def _same_in_pieces(self) -> bool:
        text = self.text(_TRIED)
        return self._of_pieces(text) == self._whole(text)

    def _whole(self, text: str) -> list[int]:
        return [int(i) for i in self._tokenizer(text, add_special_tokens=False)["input_ids"]]

    def _of_pieces(self, text: str) -> list[int]:
        found: list[int] = []
        for piece in self._cut.split(text):
            if piece in self._ids:
                found.append(self._ids[piece])
            elif piece:
                found += self._piece(piece)
        return found

    def _piece(self, piece: str) -> tuple[int, ...]:
        ids = self._pieces.get(piece)
        if ids is None:
            ids = self._pieces[piece] = tuple(self._whole(piece))
            if len(self._pieces) > PIECES:
                self._pieces.popitem(last=False)
        return ids
