"""The best way in which this machine can keep programs in: found by starting it, tested by trying to break out."""

import contextlib

from sandbox.isolation import Isolation, missing_layers
from sandbox.launching import Tier
from sandbox.local import LocalSandbox
from sandbox.selftest import PROPERTIES, break_out
from spade.errors import Abort, Retry
from spade.ports import IsolationLevel

TIERS: tuple[Tier, ...] = ("namespaced", "confined")


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
