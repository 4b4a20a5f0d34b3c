"""The command that starts a fork server: in namespaces made by bubblewrap, or bare, to be confined by the kernel's
process-level means alone."""

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spade.allowed import ALLOWED_IMPORTS

Tier = Literal["namespaced", "confined"]

DRIVER = Path(__file__).parent / "driver"
DRIVER_INSIDE = "/spade/driver"
LIBRARIES_INSIDE = "/spade/libraries"
MATHEMATICS = ("math_verify", "latex2sympy2_extended", "sympy", "mpmath", "antlr4")
"""`math_verify` and what it needs; programs may import the first alone."""
ANTLR = "antlr4-python3-runtime"
START = (
    "import json, sys; sys.path.insert(0, sys.argv[3]); from driver.zygote import main; del sys.path[0]; "
    "main(int(sys.argv[1]), json.loads(sys.argv[2]))"
)
FLAGS = ("-s", "-S", "-P", "-B")
"""No site-packages, no paths of the user, no byte code written. Not `-I`, which would ignore the hash seed."""
ZYGOTE_CAPABILITIES_AS_ROOT = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL")
ZYGOTE_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP")
HIGH_USERS = (1_900_000_000, 1_000_000)
LOW_USERS = (60_578, 600)
"""User numbers that no system hands out; the high ones where they can be mapped, the low ones in containers."""
SYSTEM_PREFIX = "/usr"
QUIETLY_NEEDED = [
    *(f"encodings.{name}" for name in ("ascii", "latin_1", "utf_16", "utf_32", "idna", "rot_13", "hex_codec")),
    *("linecache", "locale", "traceback", "weakref"),
]
"""What the standard library imports late; where the interpreter lies in root's home, programs could not."""


class NotWorking(Exception):
    """A fork server does not come up this way; the text says why."""


class Kind(NamedTuple):
    """Which fork server a program needs: one per hash seed, and one more that has `math_verify` loaded.

    `math_verify` brings a computer algebra system that takes most of a second to load; programs that do not name it
    should not pay for it, and those that do should fork from a server that has paid once.
    """

    hash_seed: int = 0
    mathematics: bool = False

    @classmethod
    def of(cls, program: str, hash_seed: int) -> "Kind":
        return cls(hash_seed, "math_verify" in program)


PLAIN = Kind()


@dataclass(frozen=True)
class Launch:
    """What a fork server is started with."""

    tier: Tier
    kind: Kind = PLAIN
    without: Mapping[str, str] = field(default_factory=dict)
    """Layers left out, each with the reason."""
    allowed: frozenset[str] = ALLOWED_IMPORTS


def command(launch: Launch, descriptor: int) -> list[str]:
    """The argument vector; `descriptor` is the server's end of the control socket."""
    if launch.tier == "namespaced":
        return [*bubblewrap(launch), *interpreter(launch, descriptor, str(Path(DRIVER_INSIDE).parent))]
    return interpreter(launch, descriptor, str(DRIVER.parent))


def environment(launch: Launch) -> dict[str, str]:
    """The whole environment of the server and of every program: nothing of the host's."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC0", "PYTHONHASHSEED": str(launch.kind.hash_seed)}


def interpreter(launch: Launch, descriptor: int, driver_parent: str) -> list[str]:
    return [base_python(), *FLAGS, "-c", START, str(descriptor), json.dumps(server_config(launch)), driver_parent]


def base_python() -> str:
    """The interpreter behind the virtual environment, which alone knows no packages."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def server_config(launch: Launch) -> dict[str, Any]:
    without = dict(launch.without)
    if launch.tier == "confined":
        without.setdefault("mount_namespace", "no bubblewrap, so no file system of our own to mount into")
    libraries = libraries_inside(launch)
    return {
        "allowed": sorted(launch.allowed),
        "hash_seed": launch.kind.hash_seed,
        "import_ahead": sorted(launch.allowed - {"math_verify"}) + QUIETLY_NEEDED,
        "libraries": libraries,
        "versions": versions(launch.kind),
        "readable": [*readable_paths(), *libraries.values()],
        "writable": ["/w"] if launch.tier == "namespaced" else [],
        "users": HIGH_USERS if maps_user(HIGH_USERS[0]) else LOW_USERS,
        "first_user": secrets.randbelow(LOW_USERS[1]),
        "without": without,
    }


def libraries_outside(kind: Kind) -> dict[str, str]:
    """The folders of the packages that a kind of server has besides the standard library."""
    if not kind.mathematics:
        return {}
    found = {name: importlib.util.find_spec(name) for name in MATHEMATICS}
    return {name: str(Path(spec.origin).parent) for name, spec in found.items() if spec is not None and spec.origin}


def libraries_inside(launch: Launch) -> dict[str, str]:
    """The same folders as the server sees them."""
    outside = libraries_outside(launch.kind)
    if launch.tier == "confined":
        return outside
    return {name: f"{LIBRARIES_INSIDE}/{name}" for name in outside}


def versions(kind: Kind) -> dict[str, str]:
    """What those packages ask about each other."""
    if not kind.mathematics:
        return {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return {ANTLR: importlib.metadata.version(ANTLR)}
    return {}


def readable_paths() -> list[str]:
    """Where the interpreter and its libraries lie: all that a program can read. Nothing twice."""
    wanted = [Path(sys.base_prefix) / "lib", Path(sys.base_prefix) / sys.platlibdir]
    wanted += [Path(path) for path in ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/dev/null")]
    found = {path.resolve() for path in wanted if path.exists()}
    return sorted(str(path) for path in found if not any(parent in found for parent in path.parents))


def maps_user(number: int) -> bool:
    """Whether this process's user namespace knows a user number."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return False
    ranges = [tuple(map(int, line.split())) for line in lines]
    return any(inside <= number < inside + count for inside, _, count in ranges)


def find_bubblewrap() -> str | None:
    """Where `bwrap` is; that it is there says nothing about whether it works."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("bwrap", path=os.pathsep.join([os.environ.get("PATH", os.defpath), beside]))


def bubblewrap(launch: Launch) -> list[str]:
    """An empty root with the interpreter and its libraries, read-only; no /proc, /sys, /etc, home or network.

    As root no user namespace is made: every program gets a host user of its own instead, and root's dangerous files
    under /proc are not there to be opened. Capabilities are for the fork server alone; programs lose them. Raises
    `NotWorking` when there is no bubblewrap.
    """
    program = find_bubblewrap()
    if program is None:
        raise NotWorking("bwrap is not installed")
    prefix = sys.base_prefix
    namespaces = ["pid", "net", "ipc", "uts", "cgroup-try"]
    arguments = [program, *(f"--unshare-{name}" for name in namespaces), "--hostname", "sandbox"]
    arguments += ["--clearenv"]
    for name, value in environment(launch).items():
        arguments += ["--setenv", name, value]
    as_root = os.geteuid() == 0
    if not as_root:
        arguments += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    arguments += ["--cap-drop", "ALL"]
    for capability in ZYGOTE_CAPABILITIES_AS_ROOT if as_root else ZYGOTE_CAPABILITIES:
        arguments += ["--cap-add", capability]
    arguments += ["--ro-bind", SYSTEM_PREFIX, SYSTEM_PREFIX, *system_folders()]
    arguments += ["--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null", "--dir", "/w", "--dir", "/w/own"]
    if not Path(prefix).is_relative_to(SYSTEM_PREFIX):
        arguments += bind(prefix, prefix)
    arguments += bind(str(DRIVER), DRIVER_INSIDE)
    for name, path in libraries_outside(launch.kind).items():
        arguments += bind(path, f"{LIBRARIES_INSIDE}/{name}")
    return [*arguments, "--remount-ro", "/", "--chdir", "/", "--"]


def system_folders() -> list[str]:
    """/lib and its kin: links into /usr on merged systems, folders on others."""
    arguments: list[str] = []
    for name in ("/lib", "/lib64", "/bin"):
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    return arguments


def bind(outside: str, inside: str) -> list[str]:
    """A read-only bind. Parents are made by name: those that bubblewrap makes itself are closed to other users."""
    return [*folders(list(Path(inside).parents)), "--ro-bind", outside, inside]


def folders(parents: Sequence[Path]) -> list[str]:
    arguments: list[str] = []
    for parent in reversed(parents):
        if str(parent) != "/":
            arguments += ["--dir", str(parent)]
    return arguments
