"""An OpenAI-compatible endpoint over real HTTP on loopback that plays a script, faults included."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

Answer = Callable[[dict[str, Any]], "Response"]


@dataclass(frozen=True)
class Response:
    """What goes down the wire. `cut`: bytes of the body after which the connection is dropped; `hang`: seconds before
    anything is sent; `refuse`: drop the connection without a word."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: float = 0.0
    refuse: bool = False


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def text(said: str, **more: Any) -> Response:
    """A well-formed chat completion; `more` overrides fields of the choice."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}} | more
    return reply(choices=[choice])


def reply(**fields: Any) -> Response:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Response(body=json.dumps({"object": "chat.completion", "model": "m", "usage": usage} | fields).encode())


def status(code: int, message: str = "no", **headers: str) -> Response:
    wire = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(code, json.dumps({"error": {"message": message, "code": code}}).encode(), wire)


def raw(body: bytes, kind: str = "application/json") -> Response:
    return Response(body=body, headers={"content-type": kind})


HTML = raw(b"<!DOCTYPE html><html><body>Sign in</body></html>", "text/html")
REFUSE = Response(refuse=True)
HANG = Response(hang=3600.0)
CUT = Response(body=text("a long answer").body, cut=20)
EMPTY = reply(choices=[])
NOT_UTF8 = raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}')
TEN_MB = raw(json.dumps({"choices": [{"message": {"content": "x" * 10_000_000}}]}).encode())


class FakeEndpoint:
    """`async with FakeEndpoint(answer, answer, ...) as fake:` each chat completion gets the next answer; the last
    repeats. An answer is a `Response`, or a function from the request's JSON to one. Other paths: `roads`."""

    def __init__(
        self, *script: Response | Answer, owned_by: str = "somebody", models: tuple[str, ...] = ("m",)
    ) -> None:
        self._script = script or (text("hello"),)
        listed = [{"id": name, "object": "model", "owned_by": owned_by} for name in models]
        self.roads: dict[str, Response | Answer] = {
            "/v1/models": Response(body=json.dumps({"object": "list", "data": listed}).encode())
        }
        self.seen: list[Seen] = []
        self.under_way = self.most_under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        host, port = self._server.sockets[0].getsockname()
        return f"http://{host}:{port}/v1"

    @property
    def chats(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.path.endswith("/chat/completions")]

    async def __aenter__(self) -> "FakeEndpoint":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while seen := await self._request(reader):
                self.seen.append(seen)
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                try:
                    kept = await self._answer(self._next(seen), writer)
                finally:
                    self.under_way -= 1
                if not kept:
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader) -> Seen | None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ")
        return Seen(method, path, headers, json.loads(body) if body else {})

    def _next(self, seen: Seen) -> Response:
        if seen.path.endswith("/chat/completions"):
            answer = self._script[min(len(self.chats), len(self._script)) - 1]
        else:
            answer = self.roads.get(seen.path, status(404, "not found"))
        return answer if isinstance(answer, Response) else answer(seen.body)

    async def _answer(self, response: Response, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        if response.refuse:
            return False
        await asyncio.sleep(response.hang)
        headers = {"content-type": "application/json"} | response.headers | {"content-length": str(len(response.body))}
        head = f"HTTP/1.1 {response.status} Said\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        writer.write(head.encode() + response.body[: response.cut])
        await writer.drain()
        return response.cut is None
