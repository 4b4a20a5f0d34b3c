"""An endpoint's address: exchanges with a deadline, over connections that are kept, with a key that never shows."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import httpx
from pydantic import SecretStr

from inference import faults
from inference.connections import Connection, Raw, TooLarge, connection_to
from spade.errors import Abort, Skip, boundary

LARGEST_REPLY = 8 * 2**20
"""Bytes. 16384 tokens with their log-probabilities are about 3 MB."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: any status, the body as bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Wire:
    """An endpoint's address. Connections belong to the event loop that made them."""

    def __init__(self, base_url: str, api_key: SecretStr | None = None) -> None:
        with boundary(Abort, f"{base_url!r} is not an address", "Write model.base_url like http://host:8000/v1"):
            self._url = httpx.URL(base_url.rstrip("/"))
        if self._url.scheme not in ("http", "https") or not self._url.host:
            raise Abort(f"{self.shown!r} is not an address.", "Write model.base_url like http://host:8000/v1.")
        self._key = _sendable(api_key)
        self._headers = {"content-type": "application/json"}
        if self._key:
            self._headers["authorization"] = f"Bearer {self._key}"
        self._tls: ssl.SSLContext | None = None
        self._idle: WeakKeyDictionary[asyncio.AbstractEventLoop, list[Connection]] = WeakKeyDictionary()
        self._closing: set[asyncio.Future[None]] = set()

    @cached_property
    def shown(self) -> str:
        """The address as messages show it: without user and password."""
        return str(self._url.copy_with(username=None, password=None, query=None))

    @cached_property
    def root(self) -> str:
        """The server's own root, above the OpenAI API."""
        return str(self._url).removesuffix("/v1")

    def within(self, path: str) -> str:
        return f"{self._url}/{path}"

    async def exchange(self, method: str, url: str, body: Any = None, *, seconds: float) -> Reply:
        """Raises `Again` or `Abort` when no whole reply came, `Skip` when it was larger than the cap."""
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        try:
            async with asyncio.timeout(seconds), self._connection() as connection:
                return self._discreet(await connection.exchange(method, _parsed(url), content, self._headers))
        except TooLarge as cause:
            size = f"{LARGEST_REPLY >> 20} MB"
            raise Skip(f"{self.shown} sent more than {size} for one reply; it was dropped.") from cause
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as cause:
            raise faults.from_exception(cause, self.shown, seconds) from cause

    async def ask(self, url: str, body: Any = None, *, seconds: float) -> dict[str, Any]:
        """The JSON object behind a side road of the server: GET, or POST where there is a body. Raises `ValueError`
        for any other answer, and what `exchange` raises."""
        reply = await self.exchange("GET" if body is None else "POST", url, body, seconds=seconds)
        value = json.loads(reply.body) if reply.status == 200 else None
        if not isinstance(value, dict):
            raise ValueError(f"{reply.status} from {url}")
        return value

    def _discreet(self, raw: Raw) -> Reply:
        """A refusal may quote the key; nothing that is shown or stored shall."""
        secret = raw.status != 200 and self._key
        body = raw.body.replace(self._key.encode(), b"***") if secret else raw.body
        return Reply(raw.status, raw.headers, body)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """An idle connection, the last used first, or a new one. After a failed exchange it is not used again."""
        idle = self._idle.setdefault(asyncio.get_running_loop(), [])
        connection = idle.pop() if idle else self._new_connection()
        try:
            yield connection
        except BaseException:
            closing = asyncio.ensure_future(connection.close())  # not awaited: this call may be under cancellation
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            raise
        idle.append(connection)

    def _new_connection(self) -> Connection:
        if self._tls is None and self._url.scheme == "https":
            self._tls = httpx.create_ssl_context()
        return connection_to(self._url, LARGEST_REPLY, self._tls)

    async def aclose(self) -> None:
        """Close this loop's connections. Safe to call twice."""
        idle = self._idle.pop(asyncio.get_running_loop(), [])
        await asyncio.gather(*(connection.close() for connection in idle), *self._closing, return_exceptions=True)


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _sendable(api_key: SecretStr | None) -> str:
    key = api_key.get_secret_value().strip() if api_key else ""
    if not (key.isascii() and key.isprintable()):
        raise Abort("The API key holds characters that cannot be sent.", "Copy it again, without line breaks.")
    return key
