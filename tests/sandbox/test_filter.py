"""The system-call filter, run through a small interpreter of its own: what it says on each kind of machine."""

import struct

import pytest

from sandbox.driver.seccomp import ALLOW, ANYBODY, KILL, PLAIN, assemble
from sandbox.driver.syscalls import AARCH64, X86_64

MACHINES = {"x86_64": (X86_64, 0xC000003E), "aarch64": (AARCH64, 0xC00000B7)}
EPERM, ENOSYS, ENOTTY = 0x50001, 0x50026, 0x50019
NEVER = {
    "x86_64": {
        "socket": 41,
        "execve": 59,
        "fork": 57,
        "clone": 56,
        "kill": 62,
        "ptrace": 101,
        "mount": 165,
        "bpf": 321,
    },
    "aarch64": {"socket": 198, "execve": 221, "clone": 220, "kill": 129, "ptrace": 117, "mount": 40, "bpf": 280},
}


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: a classic BPF machine with the five instructions that the filter uses."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x15:
            at += if_true if accumulator == value else if_false
        elif operation == 0x35:
            at += if_true if accumulator >= value else if_false
        else:
            assert operation == 0x06
            return int(value)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_is_plain_is_allowed(machine: str) -> None:
    numbers, architecture = MACHINES[machine]
    program = assemble(machine)

    assert {decide(program, architecture, numbers[name]) for name in PLAIN if name in numbers} == {ALLOW}


def test_everything_else_is_refused(machine: str) -> None:
    numbers, architecture = MACHINES[machine]
    program = assemble(machine)
    spoken_of = set(numbers.values())
    answers = {decide(program, architecture, number) for number in range(600) if number not in spoken_of}

    assert answers == {EPERM}
    assert {decide(program, architecture, number) for number in NEVER[machine].values()} == {EPERM}


def test_another_way_to_number_calls_is_fatal(machine: str) -> None:
    program = assemble(machine)

    assert decide(program, 0x40000003, 1) == KILL
    if machine == "x86_64":
        assert decide(program, 0xC000003E, 0x40000000 + 39) == KILL


@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        ("clone3", (), ENOSYS),
        ("tgkill", (ANYBODY, 5, 6), ALLOW),
        ("tgkill", (1, 5, 6), EPERM),
        ("fcntl", (3, 3), ALLOW),
        ("fcntl", (3, 8), EPERM),
        ("fcntl", (3, 10), EPERM),
        ("futex", (0, 0x80), ALLOW),
        ("futex", (0, 6), ENOSYS),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), ENOTTY),
        ("prlimit64", (0, 7, 0, 1), ALLOW),
        ("prlimit64", (0, 7, 1, 0), EPERM),
        ("prlimit64", (0, 7, 1 << 32, 0), EPERM),
        ("prlimit64", (5, 7, 0, 1), EPERM),
    ],
)
def test_arguments_decide_where_they_matter(machine: str, call: str, arguments: tuple[int, ...], answer: int) -> None:
    numbers, architecture = MACHINES[machine]

    assert decide(assemble(machine), architecture, numbers[call], *arguments) == answer


def test_an_unknown_machine_is_an_error() -> None:
    with pytest.raises(OSError, match="riscv64"):
        assemble("riscv64")
