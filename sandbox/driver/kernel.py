"""The few system calls that Python does not offer, through ctypes. Linux only; imported inside the sandbox only."""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

CLONE_NEWNS = 0x0002_0000
CLONE_NEWPID = 0x2000_0000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x2008_0522


def fail(doing: str) -> OSError:
    """The error of the call that just failed, with what it was for."""
    code = ctypes.get_errno()
    return OSError(code, f"{doing}: {os.strerror(code)}")


def prctl(option: int, *arguments: int) -> None:
    padded = [*arguments, 0, 0, 0, 0][:4]
    if libc.prctl(ctypes.c_int(option), *map(ctypes.c_ulong, padded)) < 0:
        raise fail(f"prctl {option}")


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal when the parent ends. A later change of user would clear it: call it after."""
    prctl(PR_SET_PDEATHSIG, signal_number)


def no_new_privileges() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def not_dumpable() -> None:
    """Shut this process's memory off from other processes of the same user."""
    prctl(PR_SET_DUMPABLE, 0)


def drop_bounding_set() -> None:
    """No program started later may regain a capability. Needs CAP_SETPCAP; without it there is nothing to drop."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break


NO_CAPABILITIES = (
    ctypes.create_string_buffer(struct.pack("<Ii", CAPABILITY_VERSION_3, 0), 8),
    ctypes.create_string_buffer(24),
)


def drop_capabilities() -> None:
    if libc.capset(*NO_CAPABILITIES) != 0:
        raise fail("capset")


def install_filter(program: ctypes.Array[ctypes.c_char]) -> None:
    """Attach a seccomp filter (classic BPF, 8 bytes an instruction) to this thread, for good."""
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(program))
    described = ctypes.create_string_buffer(header, len(header))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(described))


def unshare(flags: int) -> None:
    if libc.unshare(ctypes.c_int(flags)) != 0:
        raise fail(f"unshare {flags:#x}")


def setns(descriptor: int, flags: int) -> None:
    if libc.setns(ctypes.c_int(descriptor), ctypes.c_int(flags)) != 0:
        raise fail(f"setns {flags:#x}")


def mount_tmpfs(path: str, options: str) -> None:
    flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options.encode()) != 0:
        raise fail(f"mount {path}")


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    if libc.syscall(436, ctypes.c_uint(first), ctypes.c_uint(0xFFFF_FFFF), ctypes.c_uint(0)) != 0:
        os.closerange(first, 65536)
