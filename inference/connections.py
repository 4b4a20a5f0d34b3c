"""One kept-alive HTTP connection to an endpoint: a lean one for plain HTTP, httpx for TLS and proxies.

Both speak in httpx's errors. The lean one exists for speed: an exchange costs about a tenth of httpx's CPU time, which
is what limits a thousand calls a second to a vLLM server on the same network.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Protocol
from urllib.request import getproxies, proxy_bypass

import httpx

CONNECT_SECONDS = 10.0
LONGEST_HEAD = 2**16
NEAR = ("localhost", "127.0.0.1", "::1")


class TooLarge(Exception):
    """The reply is longer than the cap."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A reply as it came. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection(Protocol):
    """Carries one exchange at a time. After a failed one it must be closed."""

    async def exchange(self, method: str, url: httpx.URL, content: bytes | None, headers: dict[str, str]) -> Raw:
        """Raises `httpx.HTTPError` when no whole reply came, `TooLarge` when it is longer than the cap."""
        ...

    async def close(self) -> None: ...


def connection_to(url: httpx.URL, cap: int, tls: ssl.SSLContext | None) -> Connection:
    """The connection that suits an address. `cap`: the longest reply in bytes."""
    proxied = url.host not in NEAR and url.scheme in getproxies() and not proxy_bypass(url.host)
    if url.scheme == "http" and not url.userinfo and not proxied:
        return PlainConnection(cap)
    return HttpxConnection(cap, tls, proxied=proxied)


class HttpxConnection:
    """An httpx client of one connection: its own pool looks at every connection for every call, which costs more than
    the call itself when there are many."""

    def __init__(self, cap: int, tls: ssl.SSLContext | None, *, proxied: bool) -> None:
        self._cap = cap
        self._client = httpx.AsyncClient(
            verify=tls or False,
            trust_env=proxied,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        )

    async def exchange(self, method: str, url: httpx.URL, content: bytes | None, headers: dict[str, str]) -> Raw:
        body = bytearray()
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            async for block in response.aiter_bytes():
                body += block
                if len(body) > self._cap:
                    raise TooLarge
            return Raw(response.status_code, {k.lower(): v for k, v in response.headers.items()}, bytes(body))

    async def close(self) -> None:
        await self._client.aclose()


class PlainConnection:
    """HTTP/1.1 (RFC 9112) over one TCP connection: as much of it as JSON in and JSON out needs."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def exchange(self, method: str, url: httpx.URL, content: bytes | None, headers: dict[str, str]) -> Raw:
        lines = [f"{method} {url.raw_path.decode('ascii')} HTTP/1.1", f"host: {url.netloc.decode('ascii')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"content-length: {len(content or b'')}", "accept-encoding: identity", "\r\n"]
        message = "\r\n".join(lines).encode("latin-1") + (content or b"")
        try:
            return await self._once(url, message)
        except (OSError, asyncio.IncompleteReadError) as cause:
            raise httpx.RemoteProtocolError(str(cause)) from cause

    async def _once(self, url: httpx.URL, message: bytes) -> Raw:
        if self._streams is None or not _quiet(self._streams[0]):
            await self.close()
            self._streams = await self._connect(url)
        reader, writer = self._streams
        writer.write(message)
        try:
            status, headers = await _head(reader)
            body = await self._body(reader, headers)
        except (ValueError, IndexError, asyncio.LimitOverrunError) as cause:
            raise httpx.RemoteProtocolError(f"not HTTP: {cause}") from cause
        if headers.get("connection", "").lower() == "close" or not _delimited(headers):
            await self.close()
        return Raw(status, headers, body)

    async def _connect(self, url: httpx.URL) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = url.raw_host.decode("ascii").strip("[]")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(host, url.port or 80, limit=LONGEST_HEAD)
        except (OSError, TimeoutError) as cause:
            raise httpx.ConnectError(str(cause)) from cause

    async def _body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await self._chunks(reader)
        if "content-length" in headers:
            length = int(headers["content-length"])
            if length > self._cap:
                raise TooLarge
            return await reader.readexactly(length)
        body = bytearray()
        while block := await reader.read(1 << 16):
            body += block
            if len(body) > self._cap:
                raise TooLarge
        return bytes(body)

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        body = bytearray()
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            if size < 0 or len(body) + size > self._cap:
                raise TooLarge
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


def _quiet(reader: asyncio.StreamReader) -> bool:
    """Whether a connection is as the last exchange left it. Bytes that came unasked would be taken for the next reply,
    and one request's answer stored under another."""
    return not reader.at_eof() and not getattr(reader, "_buffer", b"")


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers of the final response; interim ones (1xx) are passed over."""
    while True:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, status = first.split(" ", 2)[:2]
        if not version.startswith("HTTP/1."):
            raise ValueError(version[:20])
        if int(status) >= 200:
            pairs = (line.partition(":") for line in lines if line)
            return int(status), {name.strip().lower(): value.strip() for name, _, value in pairs}


def _delimited(headers: dict[str, str]) -> bool:
    return "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()
