"""`spade up --check`: what would keep the factory from running here, each with its remedy; nothing is started."""

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.prefect_server import is_free, running_ui
from spade.errors import Abort
from spade.settings import FactorySettings

LEAST_FREE = 2 * 2**30
"""Bytes of disk below which a run of days is likely to stop."""


@dataclass(frozen=True)
class Checked:
    """One thing that was looked at; `trouble` and `remedy` are empty where all is well."""

    name: str
    found: str
    trouble: str = ""
    remedy: str = ""


def check(settings: FactorySettings, *, host: str, port: int) -> list[Checked]:
    """Look at everything that `spade up` and its flows need."""
    looks: dict[str, Callable[[], str]] = {
        "folder": lambda: _folder(settings.home),
        "disk": lambda: _disk(settings.home),
        "port": lambda: _port(settings.home, host, port),
        "password": lambda: _password(host),
        "database": _database,
        "corpus": lambda: _corpus(settings),
        "sandbox": lambda: _wait(_sandbox(settings)),
        "model": lambda: _wait(_model(settings)),
    }
    return [_looked(name, look) for name, look in looks.items()]


def print_check(settings: FactorySettings, *, host: str, port: int) -> bool:
    """Print one line a check, and the remedy below what fails; whether all is well."""
    found = check(settings, host=host, port=port)
    for each in found:
        print(f"{'NO ' if each.trouble else 'ok '} {each.name:<9} {each.trouble or each.found}")
        if each.remedy:
            print(f"    {'':<9} {each.remedy}")
    return not any(each.trouble for each in found)


def _looked(name: str, look: Callable[[], str]) -> Checked:
    try:
        return Checked(name, look())
    except Abort as error:
        return Checked(name, "", error.message, error.remedy)


def _folder(home: Path) -> str:
    from flows.preflight import writable

    writable(home)
    return f"{home.resolve()} can be written"


def _disk(home: Path) -> str:
    from data.writing import folder_made

    folder_made(home)
    free = shutil.disk_usage(home).free
    if free < LEAST_FREE:
        raise Abort(f"only {free / 2**30:.1f} GiB are free", "Free some space, or run `spade maintain`.")
    return f"{free / 2**30:.1f} GiB free"


def _port(home: Path, host: str, port: int) -> str:
    running = running_ui(home)
    if running:
        return f"a factory of this folder is up at {running.removesuffix('/api')}"
    if not is_free(port, host):
        raise Abort(f"port {port} on {host} is in use", "Choose another with --port, or stop what listens there.")
    return f"{host}:{port} is free"


def _password(host: str) -> str:
    from flows.up import check_reach

    check_reach(host)
    return "needed only beyond loopback" if host == "127.0.0.1" else "set"


def _database() -> str:
    url = os.environ.get("PREFECT_API_DATABASE_CONNECTION_URL") or os.environ.get(
        "PREFECT_SERVER_DATABASE_CONNECTION_URL"
    )
    if not url:
        return "SQLite under the home"
    if not url.startswith(("postgresql+asyncpg://", "sqlite+aiosqlite://")):
        raise Abort(
            "the database URL is of a form that Prefect does not know",
            "Use postgresql+asyncpg://USER:PASSWORD@HOST/NAME, or unset it for SQLite.",
        )
    if url.startswith("postgresql"):
        _wait(_answers(url.replace("+asyncpg", "", 1)))
    return url.split("@")[-1]


async def _answers(url: str) -> None:
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as error:
        raise Abort(f"the database does not let us in: {error}", "Start it, or mend the URL.") from error
    await connection.close()


def _corpus(settings: FactorySettings) -> str:
    from data.corpus import open_corpus

    return f"{len(open_corpus(settings.corpus).documents)} documents"


async def _sandbox(settings: FactorySettings) -> str:
    from sandbox.opening import open_sandbox

    async with open_sandbox(settings.sandbox) as sandbox:
        return f"isolation {sandbox.level.name.lower()}"


async def _model(settings: FactorySettings) -> str:
    from flows.configuring import with_key
    from inference.connecting import connect
    from inference.sources import fetch

    if settings.model.base_url is None:
        weights = await asyncio.to_thread(fetch, settings.model.source, settings.home / "models")
        return f"{weights.name}, embedded"
    endpoint = await connect(with_key(settings.model), settings.model.base_url)
    try:
        return f"{endpoint.name} at {settings.model.base_url}"
    finally:
        await endpoint.aclose()


def _wait(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)
