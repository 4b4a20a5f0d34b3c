"""How allocators give memory back: a process that runs for weeks must not keep what one cycle needed once."""

import ctypes
import gc
import os
import platform
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt(3)."""
LARGE = 128 * 1024
"""glibc's own first threshold, in bytes. It raises it with use, up to 32 MiB, and buffers below it come from arenas.
A run grew by a seventh in 300 cycles while the same objects were alive; this slows that (docs/benchmarks.md)."""
ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
ARENAS = 1
"""Threads that wait for Python's lock do not wait for the allocator's; what one of them frees, all can use again."""


def give_back_memory() -> bool:
    """Fix glibc's thresholds for this process; whether they could be set. Other allocators are left alone."""
    if platform.libc_ver()[0] != "glibc":
        return False
    _arrow_by_malloc()
    mallopt = ctypes.CDLL(None).mallopt
    wanted = ((_MMAP_THRESHOLD, LARGE), (_TRIM_THRESHOLD, LARGE), (_ARENA_MAX, ARENAS))
    return all([mallopt(parameter, value) == 1 for parameter, value in wanted])


def _arrow_by_malloc() -> None:
    """Arrow's own pool keeps what each thread of a run left in it, some 60 KiB a cycle: it uses malloc instead, unless
    its environment variable says otherwise. Where pyarrow is loaded already, this holds for what Python asks of it."""
    os.environ.setdefault(ARROW_POOL, "system")
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and os.environ[ARROW_POOL] == "system":
        arrow.set_memory_pool(arrow.system_memory_pool())


def settle() -> None:
    """What is loaded and open stays: garbage is not looked for there again until `trim`. The libraries of a run hold
    most of its objects: of the 8 s that a cycle computed, looking through them took 0.6 (docs/benchmarks.md)."""
    gc.collect()
    gc.freeze()


def trim() -> None:
    """Free what only refers to itself, which Python puts off the longer the larger a process is, and give free pages
    back to the system, where the allocator can."""
    gc.unfreeze()
    gc.collect()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
