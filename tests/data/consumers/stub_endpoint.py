"""An OpenAI-compatible endpoint on loopback that counts up: its n-th reply in a conversation is `\\boxed{n}`.

Run as a program it prints its port and serves until its standard input ends.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class CountingHandler(BaseHTTPRequestHandler):
    """Chat completions, streamed or whole."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turn = 1 + sum(message["role"] == "assistant" for message in body.get("messages", []))
        text = f"\\boxed{{{turn}}}"
        if body.get("stream"):
            self._send("text/event-stream", streamed(body.get("model", ""), text))
        else:
            self._send("application/json", json.dumps(whole(body.get("model", ""), text)).encode())

    def do_GET(self) -> None:
        self._send("application/json", b'{"object": "list", "data": [{"id": "stub", "object": "model"}]}')

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        return None


def whole(model: str, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}


def streamed(model: str, text: str) -> bytes:
    first = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": model}
    chunks = [{**base, "choices": [first]}, {**base, "choices": [last]}, {**base, "choices": [], "usage": usage}]
    return b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n"


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), CountingHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
