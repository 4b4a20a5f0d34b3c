"""A process whose large buffers went through the allocator once gives later ones back."""

import subprocess
import sys

import pytest

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
