"""What a program could read besides its seed is made a function of one number, so that replays match.

Clock, entropy and the state of the `random` module start alike in every game with the same hash seed, and differently
under another one: a program that leans on any of them is caught by playing it under both.
"""

import random
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

EPOCH = 1_767_225_600.0
"""2026-01-01 00:00 UTC, where the clock of hash seed 0 starts."""
DAY = 86_400.0
TICK = 0.001
"""Seconds that pass each time the clock is read, and never otherwise."""


class Clock:
    """A clock that only moves when it is looked at."""

    def __init__(self, start: float) -> None:
        self.now = start

    def read(self) -> float:
        self.now += TICK
        return self.now

    def read_ns(self) -> int:
        return int(self.read() * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += max(0.0, seconds)


def pure_datetime() -> None:
    """Load `datetime` in its pure form, which asks the `time` module for the time instead of the kernel."""
    sys.modules["_datetime"] = None  # type: ignore[assignment]
    import datetime  # noqa: F401


def control_clock(hash_seed: int) -> None:
    """Put a controlled clock behind the `time` module."""
    clock = Clock(EPOCH + 7.3 * DAY * hash_seed)
    convert = {name: getattr(time, name) for name in ("gmtime", "localtime", "ctime", "strftime")}

    def at(name: str) -> Callable[..., Any]:
        real = convert[name]
        return lambda seconds=None: real(clock.read() if seconds is None else seconds)

    def strftime(layout: str, moment: Any = None) -> str:
        return str(convert["strftime"](layout, convert["gmtime"](clock.read()) if moment is None else moment))

    replaced: dict[str, Callable[..., Any]] = {"sleep": clock.sleep, "strftime": strftime}
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        replaced |= {name: clock.read, f"{name}_ns": clock.read_ns}
    replaced |= {name: at(name) for name in ("gmtime", "localtime", "ctime")}
    vars(time).update(replaced)


def control_randomness(hash_seed: int) -> None:
    """Give unseeded generators and the entropy source of `random` a fixed beginning."""
    hidden = random.Random(f"entropy/{hash_seed}")
    seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed(self, hidden.getrandbits(64) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    vars(random)["_urandom"] = hidden.randbytes


def seed_module(hash_seed: int) -> None:
    """Start the functions of `random` itself alike. In each fork: the module reseeds itself there."""
    random.seed(0x5EED + hash_seed)


def as_module(name: str) -> ModuleType:
    """A module that the standard library finds when it looks up where a class was defined."""
    module = ModuleType(name)
    sys.modules[name] = module
    return module
