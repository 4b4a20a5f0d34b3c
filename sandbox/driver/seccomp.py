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
    """The filter as classic BPF, with `ANYBODY` where the process number belongs."""
    if machine == "x86_64":
        numbers, architecture = X86_64, 0xC000_003E
    elif machine == "aarch64":
        numbers, architecture = AARCH64, 0xC000_00B7
    else:
        raise OSError(ENOSYS, f"no system-call table for {machine}")
    program: list[Instruction] = [
        (LD, 0, 0, ARCHITECTURE),
        (JEQ, 1, 0, architecture),
        (RET, 0, 0, KILL),
        (LD, 0, 0, SYSCALL_NUMBER),
    ]
    if machine == "x86_64":
        program += [(JGE, 0, 1, 0x4000_0000), (RET, 0, 0, KILL)]
    for number in sorted(numbers[name] for name in PLAIN if name in numbers):
        program += [(JEQ, 0, 1, number), (RET, 0, 0, ALLOW)]
    for name, body in checked(ANYBODY).items():
        program += [(JEQ, 0, len(body), numbers[name]), *body]
    program.append((RET, 0, 0, refuse(EPERM)))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
