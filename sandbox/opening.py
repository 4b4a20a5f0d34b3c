"""Open the sandbox that the settings ask for, or refuse with the reason and the remedy."""

import asyncio
import importlib.util
import os
import sys
from collections.abc import Callable
from types import TracebackType

from sandbox.facade import AsyncSandbox
from sandbox.isolation import REMEDIES
from sandbox.tiers import open_local, raise_open_files
from spade.errors import Abort
from spade.ports import IsolationLevel, Sandbox
from spade.settings import SandboxSettings

EXTRA = "Install the extra: pip install 'spade-factory[e2b]'."
KEY = "Set E2B_API_KEY to a key of your account."


class open_sandbox:
    """`with open_sandbox(settings) as sandbox:` or `async with ...`. Yields a `spade.ports.Sandbox`.

    Raises `Abort` when the isolation would be below `settings.required_level`, or there is none at all. Everything that
    was started ends with the block. `settings.kind`: this machine (`local`), rented machines (`e2b`), or this machine
    where that is enough and rented ones where not (`auto`).
    """

    def __init__(self, settings: SandboxSettings) -> None:
        self.settings = settings
        self.required = IsolationLevel[settings.required_level.upper()]
        self.close: Callable[[], None] = lambda: None

    def __enter__(self) -> Sandbox:
        if self.settings.kind == "e2b":
            return self.rented()
        if self.settings.kind == "local":
            return self.local()
        try:
            return self.local()
        except Abort as error:
            unavailable = no_e2b()
            if unavailable:
                raise Abort(error.message, f"{error.remedy} Or rent machines of E2B: {unavailable}") from error
            return self.rented()

    def local(self) -> Sandbox:
        if sys.platform != "linux":
            raise Abort(f"no local sandbox on {sys.platform}.", REMEDIES["other system"])
        raise_open_files()
        core, isolation = open_local()
        self.close = core.close
        if isolation.level < self.required:
            core.close()
            raise Abort(
                f"programs would run at isolation level {isolation.level.name.lower()}; "
                f"sandbox.required_level is {self.required.name.lower()}.",
                "Missing: " + "; ".join(f"{layer}: {why}" for layer, why in isolation.missing.items()),
            )
        return AsyncSandbox(core, isolation.level, isolation.report())

    def rented(self) -> Sandbox:
        unavailable = no_e2b()
        if unavailable:
            raise Abort("sandbox.kind is e2b, which is not available here.", unavailable)
        from sandbox.cloud.backend import RemoteSandbox

        sandbox = RemoteSandbox(self.settings)
        self.close = sandbox.close
        return sandbox

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)


def no_e2b() -> str:
    """What to do before E2B's machines can be rented; empty when they can."""
    if importlib.util.find_spec("e2b") is None:
        return EXTRA
    return "" if os.environ.get("E2B_API_KEY") else KEY
