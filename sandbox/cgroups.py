"""A control group around a whole sandbox, where this process may make one: a cap on memory and processes over all
programs together, and a kill that takes everything. One group a sandbox costs nothing per program; the limits of a
single program are its own (address space, no further processes)."""

import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

PROCESSES = 16_384
MEMORY_SHARE = 0.8
"""Of the machine's memory, for all programs of a sandbox together."""
PREFIX = "spade-"
REMOVE_SECONDS = 2.0


@dataclass
class ControlGroup:
    """The folders of one group, one per hierarchy."""

    folders: list[Path]
    limits: list[str] = field(default_factory=list)
    """What is limited: `memory`, `processes`; `kill` when the kernel can kill the group at once."""

    def add(self, pid: int) -> None:
        """Move a process in; what it starts from now on is born inside. Raises `OSError`."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def close(self) -> None:
        """Kill what is left and remove the group."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                if (folder / "cgroup.kill").exists():
                    (folder / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + REMOVE_SECONDS
        for folder in self.folders:
            while not removed(folder) and time.monotonic() < deadline:
                time.sleep(0.005)


def removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def make_group() -> tuple[ControlGroup | None, str]:
    """A new group, or None and the reason."""
    own = own_folders()
    if not own:
        return None, "no control-group hierarchy is mounted"
    name = f"{PREFIX}{os.getpid()}-{time.monotonic_ns():x}"
    group = ControlGroup([])
    reason = ""
    for controller, folder in own.items():
        sweep(folder)
        try:
            (folder / name).mkdir()
        except OSError as error:
            reason = f"{folder} is not writable: {error.strerror}"
            continue
        group.folders.append(folder / name)
        group.limits += limit(folder / name, controller)
    if not group.folders:
        return None, reason
    return group, ""


def own_folders() -> dict[str, Path]:
    """Where this process's own groups lie: `unified` (version 2), `memory`, `pids` (version 1)."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return {}
    places: dict[str, Path] = {}
    for line in mounts:
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        point = Path(left.split()[4])
        if kind == "cgroup2":
            places["unified"] = point
        elif kind == "cgroup":
            places |= {name: point for name in ("memory", "pids") if name in options.split(" ")[-1].split(",")}
    found: dict[str, Path] = {}
    for line in lines:
        _, names, path = line.split(":", 2)
        for name in names.split(",") if names else ["unified"]:
            folder = places.get(name, Path()) / path.lstrip("/")
            if name in places and folder.is_dir():
                found[name] = folder
    return found


def limit(folder: Path, controller: str) -> list[str]:
    """Set what can be set. Answers what was."""
    memory = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE)
    files = {
        "memory": {"memory": ("memory.limit_in_bytes", memory)},
        "pids": {"processes": ("pids.max", PROCESSES)},
        "unified": {"memory": ("memory.max", memory), "processes": ("pids.max", PROCESSES)},
    }[controller]
    done = []
    for what, (name, value) in files.items():
        with contextlib.suppress(OSError):
            # A file that is not there must not be made: it would say that a limit holds which does not.
            if (folder / name).exists():
                (folder / name).write_text(str(value))
                done.append(what)
    if (folder / "cgroup.kill").exists():
        done.append("kill")
    return done


def sweep(folder: Path) -> None:
    """Remove empty groups of hosts that were killed."""
    for left in folder.glob(f"{PREFIX}*-*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            removed(left)
