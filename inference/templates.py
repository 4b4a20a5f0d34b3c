"""The exact prompt tokens of llama.cpp's server, which its chat completions do not return."""

from collections.abc import Mapping
from typing import Any

from inference.wire import Wire
from spade.errors import SpadeError

SECONDS = 30.0


async def prompt_ids(wire: Wire, asked: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The body of a chat completion through the server's own chat template and tokenizer, the same that it uses for
    the completion. The caller holds their number against the server's count of prompt tokens. None when the server does
    not answer."""
    body = {name: asked[name] for name in ("messages", "tools") if name in asked}
    try:
        prompt = (await wire.ask(f"{wire.root}/apply-template", body, seconds=SECONDS))["prompt"]
        text = {"content": prompt, "add_special": True, "parse_special": True}
        return tuple(int(i) for i in (await wire.ask(f"{wire.root}/tokenize", text, seconds=SECONDS))["tokens"])
    except (SpadeError, KeyError, TypeError, ValueError):
        return None
