"""A process whose large buffers went through the allocator once gives later ones back."""

import gc
import os
import subprocess
import sys
import weakref

import pytest

from flows.allocating import settle, trim

VARIABLE = "ARROW_DEFAULT_MEMORY_POOL"
PROGRAM = """
import ctypes, platform, sys
from flows.allocating import give_back_memory

class Held(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

if platform.libc_ver()[0] != "glibc":
    print("no glibc"); raise SystemExit
if sys.argv[1] == "fixed":
    assert give_back_memory()
ask = ctypes.CDLL(None).mallinfo2
ask.restype = Held
for _ in range(3):
    bytearray(8 << 20)
before = ask().hblks
kept = [bytearray(1 << 20) for _ in range(5)]
print(ask().hblks - before)
"""


@pytest.mark.parametrize(("how", "mapped"), [("as it is", 0), ("fixed", 5)])
def test_large_buffers_lie_outside_the_arenas(how: str, mapped: int) -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True
    ).stdout.strip()
    if said == "no glibc":
        pytest.skip("another C library has its own allocator")
    assert int(said) == mapped


ARROW = """
import sys
from flows.allocating import give_back_memory
if sys.argv[1] == "before":
    import pyarrow
if not give_back_memory():
    print("no glibc"); raise SystemExit
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""


@pytest.mark.parametrize(
    ("loaded", "asked", "pool"),
    [("before", {}, "system"), ("after", {}, "system"), ("after", {VARIABLE: "mimalloc"}, "mimalloc")],
)
def test_arrow_takes_its_memory_from_malloc_unless_told_otherwise(
    loaded: str, asked: dict[str, str], pool: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | asked
    said = subprocess.run(
        [sys.executable, "-c", ARROW, loaded], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()
    if said == "no glibc":
        pytest.skip("another C library has its own allocator")
    assert said == pool


def test_what_is_settled_is_looked_through_again_after_a_trim() -> None:
    class Knot:
        def __init__(self) -> None:
            self.me = self

    try:
        knot = Knot()
        gone = weakref.ref(knot)
        settle()
        del knot
        gc.collect()
        assert gone() is not None
        trim()
        assert gone() is None
    finally:
        gc.unfreeze()
