"""HTTP as endpoints really speak it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from inference.connections import Connection, HttpxConnection, PlainConnection, TooLarge, connection_to

REPLIES = {
    "length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", True),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", True),
    "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", True),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello", True),
    "no reason": (b"HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\nhello", True),
    "close": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", False),
    "until the end": (b"HTTP/1.1 200 OK\r\n\r\nhello", False),
}
BROKEN = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-",
    "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
    "half a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
    "no number": b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello",
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
    "no chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n",
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "an endless head": b"HTTP/1.1 200 OK\r\nx: " + b"y" * 2**18,
}
KINDS = {"plain": lambda: PlainConnection(100), "httpx": lambda: HttpxConnection(100, None, proxied=False)}
kinds = pytest.mark.parametrize("kind", KINDS)


@asynccontextmanager
async def saying(reply: bytes, *, keep: bool) -> AsyncIterator[tuple[httpx.URL, list[int]]]:
    """A server that answers each request with these bytes; the second value lists how many each connection got."""
    served: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(0)
        number = len(served) - 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                served[number] += 1
                writer.write(reply)
                await writer.drain()
                if not keep:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield httpx.URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x"), served
    finally:
        server.close()


async def ask(connection: Connection, url: httpx.URL) -> bytes:
    return (await connection.exchange("GET", url, None, {"authorization": "Bearer x"})).body


@kinds
@pytest.mark.parametrize("form", REPLIES)
async def test_a_reply_is_read_in_every_form(kind: str, form: str) -> None:
    reply, keep = REPLIES[form]
    async with saying(reply, keep=keep) as (url, served):
        connection = KINDS[kind]()
        bodies = [await ask(connection, url) for _ in range(3)]
        await connection.close()

    assert bodies == [b"hello"] * 3
    assert served == ([3] if keep else [1, 1, 1])


@kinds
@pytest.mark.parametrize("form", BROKEN)
async def test_a_broken_reply_is_an_error_of_http(kind: str, form: str) -> None:
    async with saying(BROKEN[form], keep=False) as (url, _):
        connection = KINDS[kind]()
        with pytest.raises(httpx.HTTPError):
            await ask(connection, url)
        await connection.close()


@kinds
@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b"x" * 500,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n" + b"x" * 500 + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500,
    ],
    ids=["length", "chunks", "until the end"],
)
async def test_a_reply_over_the_cap_is_not_kept(kind: str, reply: bytes) -> None:
    async with saying(reply, keep=False) as (url, _):
        connection = KINDS[kind]()
        with pytest.raises(TooLarge):
            await ask(connection, url)
        await connection.close()


@kinds
async def test_a_connection_that_the_server_closed_while_idle_is_made_anew(kind: str) -> None:
    """vLLM's server closes idle connections after five seconds."""
    async with saying(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", keep=False) as (url, served):
        connection = KINDS[kind]()
        for _ in range(3):
            assert await ask(connection, url) == b"hello"
            await asyncio.sleep(0.02)
        await connection.close()

    assert served == [1, 1, 1]


async def test_bytes_that_nobody_asked_for_are_not_the_next_reply() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
    async with saying(reply, keep=True) as (url, served):
        connection = PlainConnection(100)
        bodies = [await ask(connection, url) for _ in range(3)]
        await connection.close()

    assert bodies == [b"hello"] * 3
    assert served == [1, 1, 1]


def test_tls_proxies_and_passwords_are_left_to_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    kinds = {
        "http://127.0.0.1:8000/v1": PlainConnection,
        "http://far.example/v1": HttpxConnection,
        "https://far.example/v1": HttpxConnection,
        "http://user:word@127.0.0.1/v1": HttpxConnection,
    }

    assert {url: type(connection_to(httpx.URL(url), 10, None)) for url in kinds} == kinds
