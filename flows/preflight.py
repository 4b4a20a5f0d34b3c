"""Everything that can be refused is refused before anything is started: folder, corpus, sandbox, endpoint."""

import asyncio
from pathlib import Path

from data.corpus import open_corpus
from flows.configuring import with_key
from flows.reasons import room
from inference.connecting import connect
from inference.sources import fetch
from sandbox.opening import open_sandbox
from spade.errors import Abort
from spade.settings import FactorySettings


async def preflight(settings: FactorySettings) -> None:
    """Fetch the embedded model if it is wanted, and raise `Abort`, with a remedy, for what would fail every cycle."""
    writable(settings.home)
    open_corpus(settings.corpus)
    async with open_sandbox(settings.sandbox):
        pass
    if settings.model.base_url is None:
        await asyncio.to_thread(fetch, settings.model.source, settings.home / "models")
    else:
        endpoint = await connect(with_key(settings.model), settings.model.base_url)
        await endpoint.aclose()


def writable(home: Path) -> None:
    """Raises `Abort` when run artifacts cannot be written there, or hardly."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise Abort(
            f"The folder {home} cannot be written: {error.strerror or error}.",
            "Choose another with --home, or mend its permissions.",
        ) from error
    room(home)
