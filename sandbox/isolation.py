"""How well programs are kept in: computed from the layers that were seen to work, and tested by trying to break out."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.launching import Tier
from spade.ports import IsolationLevel

REMEDIES = {
    "bubblewrap": "Install bubblewrap (apt install bubblewrap).",
    "uid map": (
        "This system forbids user namespaces to ordinary programs (Ubuntu 24.04 and later): allow bwrap with an "
        "AppArmor profile, or set kernel.apparmor_restrict_unprivileged_userns=0."
    ),
    "container": (
        "Inside a container start it with --security-opt seccomp=unconfined --cap-add SYS_ADMIN, or leave it: the "
        "confined level needs none of this."
    ),
    "landlock": "Use Linux 5.13 or later with landlock in the kernel's list of security modules (lsm=landlock,...).",
    "control_group": "Optional: run as root, or under `systemd-run --user --scope -p Delegate=yes`.",
    "own_user": "Run as root (or with CAP_SETUID) to give each program a user of its own.",
    "other system": 'Programs run on Linux only: use a Linux machine, or the e2b backend (sandbox.kind = "e2b").',
}


@dataclass(frozen=True, slots=True)
class Isolation:
    """What keeps programs in on this machine, as JSON values."""

    tier: Tier
    layers: Mapping[str, Any]
    missing: Mapping[str, str]
    """Layers that are not there, each with the reason and what to do about it."""
    breakouts: Mapping[str, str] = field(default_factory=dict)
    """What the self-test managed to do that it should not have; empty after a clean test."""
    tested: int = 0

    @property
    def level(self) -> IsolationLevel:
        """Fail closed: without a system-call filter and a wall around files, or after a break-out, nothing is safe."""
        walled = self.tier == "namespaced" or self.layers["landlock"]
        if self.breakouts or not self.layers["seccomp"] or not walled:
            return IsolationLevel.UNSAFE
        return IsolationLevel.NAMESPACED if self.tier == "namespaced" else IsolationLevel.CONFINED

    def properties(self) -> dict[str, list[str]]:
        """What holds, each with everything that makes it hold; an empty list means that it does not."""
        layers, outer = self.layers, self.tier == "namespaced"
        filtered = ["seccomp"] if layers["seccomp"] else []
        landlock = int(layers["landlock"])
        walls = ["mount namespace"] * outer + ["landlock"] * (landlock >= 1)
        processes = ["process namespace"] * bool(layers["process_namespace"])
        user = ["own user"] * bool(layers["own_user"])
        limits = layers.get("control_group", ())
        group = {what: ["control group"] * (what in limits) for what in ("memory", "processes", "kill")}
        held = {
            "no network": filtered + ["network namespace"] * outer + ["landlock (TCP)"] * (landlock >= 4),
            "files of the host cannot be read": walls,
            "names and sizes of files are hidden": ["mount namespace"] * outer,
            "nothing can be written": walls,
            "environment and memory of the host are hidden": walls,
            "no signals to other processes": filtered + processes + user + ["landlock"] * (landlock >= 6),
            "no further processes or threads": filtered + group["processes"],
            "memory is bounded": ["RLIMIT_AS", *group["memory"]],
            "time is bounded": ["deadline and kill from outside", "RLIMIT_CPU"],
            "a kill leaves nothing behind": filtered + processes + group["kill"],
            "ends with the host": ["control socket", "parent-death signal", *processes],
            "no privileges of its own": ["capabilities dropped", "no new privileges", *filtered],
            "private scratch folder": ["tmpfs"] * bool(outer and layers["mount_namespace"]),
        }
        return {name: [] if name in self.breakouts else means for name, means in held.items()}

    def report(self) -> dict[str, Any]:
        return {
            "level": self.level.name.lower(),
            "backend": f"local-{self.tier}",
            "kernel": platform.release(),
            "python": platform.python_version(),
            "layers": dict(self.layers),
            "properties": self.properties(),
            "missing": dict(self.missing),
            "self_test": {"tried": self.tested, "broke_out": dict(self.breakouts)},
        }


def remedy_for(layer: str, reason: str) -> str:
    """What a person can do about a layer that is not there."""
    if sys.platform != "linux":
        return REMEDIES["other system"]
    if layer == "bubblewrap":
        if "not installed" in reason:
            return REMEDIES["bubblewrap"]
        return REMEDIES["uid map" if "uid map" in reason else "container"]
    return REMEDIES.get(layer, "")


def missing_layers(reasons: Mapping[str, str]) -> dict[str, str]:
    return {layer: f"{reason}. {remedy_for(layer, reason)}".strip() for layer, reason in reasons.items()}
