"""Landlock: what a process may do with files, enforced by the kernel without any privilege (Linux 5.13 and later)."""

import ctypes
import os
import struct
from collections.abc import Sequence

from .kernel import fail, libc

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
PATH_BENEATH = 1
WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
MAKE_SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
EXECUTE = 1 << 0
TRUNCATE, IOCTL = 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL


def version() -> int:
    """The kernel's Landlock interface version, 0 where there is none."""
    answer = int(libc.syscall(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)))
    return max(answer, 0)


def file_rights(abi: int) -> int:
    """All rights over files that this version can take away."""
    rights = (1 << 13) - 1
    if abi >= 2:
        rights |= 1 << 13
    if abi >= 3:
        rights |= TRUNCATE
    if abi >= 5:
        rights |= IOCTL
    return rights


def create(abi: int) -> int:
    """A rule set that allows nothing: no files, no TCP (from 4), no signals and abstract sockets outwards (from 6)."""
    network = 3 if abi >= 4 else 0
    scoped = 3 if abi >= 6 else 0
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("<QQQ", file_rights(abi), network, scoped)[:size]
    descriptor = libc.syscall(CREATE, ctypes.create_string_buffer(attributes, size), ctypes.c_size_t(size), 0)
    if descriptor < 0:
        raise fail("landlock_create_ruleset")
    return int(descriptor)


def allow(ruleset: int, path: int, rights: int) -> None:
    """Allow rights beneath a path, given as an open descriptor."""
    rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, path), 12)
    if libc.syscall(ADD_RULE, ctypes.c_int(ruleset), PATH_BENEATH, rule, ctypes.c_uint(0)) < 0:
        raise fail("landlock_add_rule")


def rules(readable: Sequence[str], writable: Sequence[str], abi: int) -> int:
    """A rule set: reading beneath some paths, everyday use of others. Made once, where the paths can be reached."""
    ruleset = create(abi)
    everyday = file_rights(abi) & ~(EXECUTE | MAKE_SPECIAL)
    for paths, rights in ((readable, READ_FILE | READ_DIR), (writable, everyday)):
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allow(ruleset, descriptor, rights if os.path.isdir(path) else rights & FILE_RIGHTS)
            os.close(descriptor)
    return ruleset


def restrict(ruleset: int) -> None:
    """From now on this process may do what the rules say and no more, for good."""
    if libc.syscall(RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0)) < 0:
        raise fail("landlock_restrict_self")
