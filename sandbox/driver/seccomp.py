"""The system-call filter: a list of what is allowed, everything else answers EPERM.

No sockets, no processes, no threads, no signals to others, no namespaces, no mounts, no tracing, no kernel keyrings,
no io_uring, bpf, perf or userfaultfd. Calls whose harm lies in an argument are allowed for the harmless arguments only.
"""

import ctypes
import os
import platform
import struct

from .kernel import install_filter
from .syscalls import AARCH64, X86_64

# fmt: off
PLAIN = (
    # Read, write, wait.
    "read", "write", "close", "pread64", "pwrite64", "readv", "writev", "lseek", "poll", "ppoll",
    "select", "pselect6", "epoll_wait", "epoll_pwait", "pipe2", "dup", "dup2", "dup3", "close_range", "fsync",
    "ftruncate",
    # Files (which ones, Landlock and the mounts decide).
    "open", "openat", "access", "faccessat", "faccessat2", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs",
    "fstatfs", "getdents64", "getcwd", "chdir", "readlink", "readlinkat", "mkdir", "mkdirat", "rmdir", "unlink",
    "unlinkat", "rename", "renameat", "renameat2", "umask", "fadvise64",
    # Own memory.
    "mmap", "mprotect", "munmap", "mremap", "msync", "mincore", "madvise", "brk", "get_mempolicy",
    # Own signals, timers, clocks.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "pause", "alarm",
    "getitimer", "setitimer", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
    "times",
    # Questions about oneself.
    "getpid", "getppid", "gettid", "getpgrp", "getsid", "getuid", "geteuid", "getgid", "getegid", "getresuid",
    "getresgid", "getrlimit", "getrusage", "sched_getaffinity", "sched_yield", "uname", "sysinfo", "getrandom",
    "set_robust_list", "rseq",
    # The end.
    "exit", "exit_group",
)
# fmt: on

# Classic BPF: load word, jump if equal / at least, and, return.
LD, JEQ, JGE, AND, RET = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
EPERM, ENOTTY, ENOSYS = 1, 25, 38
SYSCALL_NUMBER, ARCHITECTURE = 0, 4

FCNTL = (0, 1, 2, 3, 4, 5, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_DUPFD_CLOEXEC. Not F_SETOWN and F_SETSIG, with which the
kernel itself would signal a process of the same user."""
FUTEX = (0, 1, 3, 4, 5, 9, 10)
"""Wait, wake, requeue and their bitset forms; no priority inheritance."""
IOCTL = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONCLEX, FIOCLEX: never those that type into a terminal."""

ANYBODY = 0x7B1D_7B1D
"""Stands for the number of the process."""
Instruction = tuple[int, int, int, int]
Node = tuple[int, int | str, int | str]
"""A number, and where to go on below it and from it on: another node, or a verdict."""


def refuse(errno: int) -> int:
    return 0x0005_0000 | errno


def argument(index: int, high: bool = False) -> int:
    """Offset of half an argument in what the filter sees (little endian)."""
    return 16 + 8 * index + 4 * high


def only(values: tuple[int, ...], index: int, errno: int, mask: int = 0xFFFF_FFFF) -> list[Instruction]:
    """Allow when an argument, masked, is one of these values."""
    body: list[Instruction] = [(LD, 0, 0, argument(index)), (AND, 0, 0, mask)]
    for value in values:
        body += [(JEQ, 0, 1, value), (RET, 0, 0, ALLOW)]
    return [*body, (RET, 0, 0, refuse(errno))]


def checked(pid: int) -> dict[str, list[Instruction]]:
    """What happens to the calls whose arguments matter."""
    no_new_limit: list[Instruction] = [
        (LD, 0, 0, argument(0)),
        (JEQ, 0, 5, 0),
        (LD, 0, 0, argument(2)),
        (JEQ, 0, 3, 0),
        (LD, 0, 0, argument(2, high=True)),
        (JEQ, 0, 1, 0),
        (RET, 0, 0, ALLOW),
        (RET, 0, 0, refuse(EPERM)),
    ]
    return {
        # Its flags lie behind a pointer; told that it does not exist, the C library falls back to calls we can read.
        "clone3": [(RET, 0, 0, refuse(ENOSYS))],
        "fcntl": only(FCNTL, 1, EPERM),
        "futex": only(FUTEX, 1, ENOSYS, mask=0x7F),
        "ioctl": only(IOCTL, 1, ENOTTY),
        "prlimit64": no_new_limit,
        "tgkill": only((pid,), 0, EPERM),
    }


class Filter:
    """The filter, assembled once; every process puts its own number in, the only one it may signal."""

    def __init__(self, machine: str = "") -> None:
        """Raises `OSError` on a machine whose call numbers we do not know."""
        program = assemble(machine or platform.machine())
        self.buffer = ctypes.create_string_buffer(program, len(program))
        at = program.index(struct.pack("<I", ANYBODY))
        self.own = memoryview(self.buffer).cast("B")[at : at + 4]

    def install(self) -> None:
        """Lock this process in, for good."""
        self.own[:] = struct.pack("<I", os.getpid())
        install_filter(self.buffer)


def assemble(machine: str) -> bytes:
    """The filter as classic BPF, with `ANYBODY` where the process number belongs.

    The call's number is looked up in a binary tree: the kernel tries every number once when a filter is attached, so a
    list from the top to the bottom would cost each cell a fifth of a millisecond.
    """
    if machine == "x86_64":
        numbers, architecture, end = X86_64, 0xC000_003E, 0x4000_0000
    elif machine == "aarch64":
        numbers, architecture, end = AARCH64, 0xC000_00B7, 0
    else:
        raise OSError(ENOSYS, f"no system-call table for {machine}")
    bodies = checked(ANYBODY)
    verdicts = dict.fromkeys((numbers[name] for name in PLAIN if name in numbers), "allow")
    verdicts |= {numbers[name]: name for name in bodies}
    nodes: list[Node] = []
    search(ranges(verdicts, end), nodes)
    start: list[Instruction] = [(LD, 0, 0, ARCHITECTURE), (JEQ, 1, 0, architecture), (RET, 0, 0, KILL)]
    start.append((LD, 0, 0, SYSCALL_NUMBER))
    endings: list[Instruction] = [(RET, 0, 0, ALLOW), (RET, 0, 0, refuse(EPERM)), (RET, 0, 0, KILL)]
    places: dict[str, int] = {label: len(nodes) + at for at, label in enumerate(("allow", "refuse", "kill"))}
    tail = list(endings)
    for name, body in bodies.items():
        places[name] = len(nodes) + len(tail)
        tail += body
    tree: list[Instruction] = []
    for at, (first, below, above) in enumerate(nodes):
        there = [target if isinstance(target, int) else places[target] for target in (above, below)]
        tree.append((JGE, there[0] - at - 1, there[1] - at - 1, first))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in [*start, *tree, *tail])


def ranges(verdicts: dict[int, str], end: int) -> list[tuple[int, str]]:
    """Where each verdict begins, by call number. Numbers nobody spoke of are refused; from `end` on, killed."""
    found = [(0, verdicts.get(0, "refuse"))]
    for number in sorted(set(verdicts) | {spoken + 1 for spoken in verdicts}):
        verdict = verdicts.get(number, "refuse")
        if verdict != found[-1][1]:
            found.append((number, verdict))
    return [*found, (end, "kill")] if end else found


def search(found: list[tuple[int, str]], nodes: list[Node]) -> int | str:
    """Add the nodes that tell these ranges apart; answers the place of the first, or the verdict of a lone range."""
    if len(found) == 1:
        return found[0][1]
    half = len(found) // 2
    here = len(nodes)
    nodes.append((0, 0, 0))
    below, above = search(found[:half], nodes), search(found[half:], nodes)
    nodes[here] = (found[half][0], below, above)
    return here
