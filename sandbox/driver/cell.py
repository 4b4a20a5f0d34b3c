"""Turn a freshly forked copy of the fork server into a locked cell, then serve. The order of the steps matters."""

import gc
import math
import os
import resource
import select
import signal
from dataclasses import dataclass
from typing import Any

from . import frames, kernel, landlock, seccomp
from .controls import seed_module
from .program import quiet
from .serve import CONTROL, serve

SCRATCHES, SCRATCH = "/w", "/w/own"
"""Where every cell mounts a folder of its own, and above it the place that the file rules speak about: rules go by what
a path leads through, and what is mounted over is not on the way."""
MEGABYTE = 1 << 20
STACK = 8 * MEGABYTE


@dataclass
class Layers:
    """What this kernel lets us do here, found out by trying."""

    seccomp: bool
    landlock: int
    process_namespace: bool
    mount_namespace: bool
    own_user: bool


@dataclass
class Ground:
    """What the fork server hands to every cell."""

    layers: Layers
    hash_seed: int
    builtin_names: dict[str, Any]
    """What guarded programs get; made once, since copying it would cost every cell a copy of the pages it touches."""
    files: int | None
    """Landlock rules, as a descriptor."""
    filter: seccomp.Filter | None
    server_ended: select.poll
    """Answers at once when the fork server has ended."""


def become_cell(ground: Ground, data: int, spec: dict[str, Any]) -> None:
    """Lock this process down and serve one program; never returns."""
    try:
        lock_down(ground, data, spec)
    except BaseException as error:  # noqa: BLE001
        os.write(CONTROL, frames.frame(0, frames.UNSTARTED, repr(error).encode()[: frames.MAX_DETAIL]))
        os._exit(97)
    try:
        serve(ground.builtin_names if spec["guarded"] else None)
    finally:
        os._exit(98)


def lock_down(ground: Ground, data: int, spec: dict[str, Any]) -> None:
    scratch = enter(ground.layers, data, spec)
    limit_resources(spec)
    if spec["user"]:
        become_user(spec["user"])
    # Only now: a change of user clears the wish to die with the parent, and may clear the other. The parent may be gone
    # already.
    kernel.die_with_parent(signal.SIGKILL)
    kernel.not_dumpable()
    if ground.server_ended.poll(0):
        os._exit(96)
    seed_module(ground.hash_seed)
    kernel.drop_capabilities()
    if ground.files is not None:
        landlock.restrict(ground.files)
    kernel.close_from(CONTROL + 1)
    os.chdir(scratch or "/")
    gc.enable()
    if ground.filter is not None:
        ground.filter.install()


def prepare_ground() -> None:
    """In the fork server, once: what every cell inherits."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    quiet()
    kernel.no_new_privileges()
    kernel.drop_bounding_set()
    none = [resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, getattr(resource, "RLIMIT_MSGQUEUE", resource.RLIMIT_CORE)]
    for which in none:
        resource.setrlimit(which, (0, 0))
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


def enter(layers: Layers, data: int, spec: dict[str, Any]) -> str | None:
    """A connection and a scratch folder of its own. Answers the folder, or None where there is none."""
    signal.set_wakeup_fd(-1)
    os.dup2(data, CONTROL)
    if not layers.mount_namespace or not spec["scratch_mb"]:
        return None
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount_tmpfs(SCRATCH, f"size={spec['scratch_mb']}m,nr_inodes=1024,mode=0777")
    return SCRATCH


def limit_resources(spec: dict[str, Any]) -> None:
    cpu = max(1, math.ceil(spec["cpu_seconds"]))
    file_size = spec["scratch_mb"] * MEGABYTE
    # Address space is inherited: what the fork server has comes on top of the program's budget.
    address_space = spec["inherited_bytes"] + spec["memory_mb"] * MEGABYTE
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def become_user(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
