"""Open the best sandbox that this machine offers, or refuse with the reason and the remedy."""

import asyncio
import contextlib
import sys
from types import TracebackType

from sandbox.facade import AsyncSandbox
from sandbox.isolation import REMEDIES, Isolation, missing_layers
from sandbox.launching import Tier
from sandbox.local import LocalSandbox
from sandbox.selftest import PROPERTIES, break_out
from spade.errors import Abort, Retry
from spade.ports import IsolationLevel, Sandbox
from spade.settings import SandboxSettings

TIERS: tuple[Tier, ...] = ("namespaced", "confined")


class open_sandbox:
    """`with open_sandbox(settings) as sandbox:` or `async with ...`. Yields a `spade.ports.Sandbox`.

    Raises `Abort` when the machine's isolation is below `settings.required_level`, or has none at all. Everything that
    was started ends with the block.
    """

    def __init__(self, settings: SandboxSettings) -> None:
        self.settings = settings
        self.core: LocalSandbox | None = None

    def __enter__(self) -> Sandbox:
        if self.settings.kind == "e2b":
            raise Abort("sandbox.kind is e2b, which is not available here.", "Install the extra: spade-factory[e2b].")
        if sys.platform != "linux":
            raise Abort(f"no local sandbox on {sys.platform}.", REMEDIES["other system"])
        raise_open_files()
        self.core, isolation = open_local()
        required = IsolationLevel[self.settings.required_level.upper()]
        if isolation.level < required:
            self.close()
            raise Abort(
                f"programs would run at isolation level {isolation.level.name.lower()}; "
                f"sandbox.required_level is {required.name.lower()}.",
                "Missing: " + "; ".join(f"{layer}: {why}" for layer, why in isolation.missing.items()),
            )
        return AsyncSandbox(self.core, isolation.level, isolation.report())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        if self.core is not None:
            self.core.close()


def open_local() -> tuple[LocalSandbox, Isolation]:
    """The best tier that comes up when tried and holds when tested. Raises `Abort` when none comes up."""
    reasons: dict[str, str] = {}
    found: tuple[LocalSandbox, Isolation] | None = None
    for tier in TIERS:
        core = LocalSandbox(tier)
        try:
            layers, missing, breakouts = core.zygote().layers, core.zygote().reasons, break_out(core)
        except Retry as error:
            core.close()
            reasons["bubblewrap" if tier == "namespaced" else "fork server"] = error.message
            continue
        isolation = Isolation(tier, layers, missing_layers(reasons | missing), breakouts, len(PROPERTIES))
        if found is None or isolation.level > found[1].level:
            if found is not None:
                found[0].close()
            found = core, isolation
        else:
            core.close()
        if found[1].level > IsolationLevel.UNSAFE:
            break
    if found is None:
        raise Abort(
            "no sandbox comes up on this machine.", "; ".join(f"{what}: {why}" for what, why in reasons.items())
        )
    return found


def raise_open_files() -> None:
    """Two descriptors a game: lift this process's soft limit as far as it may."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
