"""The exact prompt tokens of llama.cpp's server, which its chat completions do not return."""

from inference.wire import Wire
from spade.errors import SpadeError
from spade.messages import Request

SECONDS = 30.0


async def prompt_ids(wire: Wire, request: Request) -> tuple[int, ...] | None:
    """The request through the server's own chat template and tokenizer, the same that its chat completions use. The
    caller holds their number against the server's count of prompt tokens. None when the server does not answer."""
    body: dict[str, object] = {"messages": [message.wire() for message in request.messages]}
    if request.tools:
        body["tools"] = list(request.tools)
    try:
        prompt = (await wire.ask(f"{wire.root}/apply-template", body, seconds=SECONDS))["prompt"]
        text = {"content": prompt, "add_special": True, "parse_special": True}
        return tuple(int(i) for i in (await wire.ask(f"{wire.root}/tokenize", text, seconds=SECONDS))["tokens"])
    except (SpadeError, KeyError, TypeError, ValueError):
        return None
