"""A model behind HTTP on loopback that answers after a while, 64 calls at once, in a process of its own:
`python -m benchmarks.waiting_endpoint SECONDS`. Its ideal throughput is slots by seconds.

Prints its address; ends when standard input closes.
"""

import asyncio
import json
import sys
from contextlib import AbstractContextManager

from benchmarks.processes import served

SLOTS, SECONDS = 64, 0.05


def endpoint(seconds: float = SECONDS) -> AbstractContextManager[str]:
    """The stub's address; it answers after `seconds`."""
    return served("benchmarks.waiting_endpoint", seconds)


REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "stub",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "I go on. \\boxed{next}"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 108},
}


class Stub(asyncio.Protocol):
    """One kept connection; every request is answered after `SECONDS`, `SLOTS` at once over all of them."""

    free = asyncio.Semaphore(SLOTS)
    seconds = SECONDS
    body = json.dumps(REPLY).encode()
    models = json.dumps({"data": [{"id": "stub", "owned_by": "stub"}]}).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.data = transport, b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, end, rest = self.data.partition(b"\r\n\r\n")
        sizes = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if end and len(rest) >= sum(sizes):
            self.data = b""
            asyncio.get_running_loop().create_task(self.answer(head.startswith(b"GET")))

    async def answer(self, listed: bool) -> None:
        async with self.free:
            await asyncio.sleep(0 if listed else self.seconds)
        body = self.models if listed else self.body
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]


async def serve(seconds: float) -> None:
    Stub.seconds = seconds
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
