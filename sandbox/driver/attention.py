"""Waiting awake, for a moment: to wake a process that sleeps on another core costs more than the step of most programs.

Host and program both do it, each on a core of its own: measured on two cores in turns, 44,000 to 59,000 single steps a
second where sleeping sides make 19,000 to 26,000 (docs/benchmarks.md). It costs a moment of processor time each time it
is in vain, and then is not tried again for a while: a partner that thinks for long is waited for asleep, and so is one
that can only run where we do.
"""

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

AWAKE = 100e-6
"""Seconds to wait awake: several times what a step of a small program takes."""
MOST_DOUBT = 256
EVERY = 128
"""Looks between two questions about the cores, which may be handed out anew while we run."""
clock = time.perf_counter
"""Ours; programs are shown another."""


def one_core() -> bool:
    """Whether this process may run on one core alone: then its partner, on the same one, must get it."""
    try:
        return len(os.sched_getaffinity(0)) == 1
    except (AttributeError, OSError):  # not every system says; exported packages also run elsewhere
        return False


class Attention:
    """Whether it is worth while to wait awake for one partner."""

    __slots__ = ("asleep", "awake", "doubt", "looks")

    def __init__(self, asleep: int = 0, awake: float = AWAKE) -> None:
        self.doubt = 1
        self.asleep = asleep
        """Waits to sleep through before the next try: twice as many after each that was in vain."""
        self.awake = awake
        """Seconds to stay awake."""
        self.looks = 0

    def look(self, ask: Callable[[], T]) -> T | None:
        """The first answer of `ask` that says something (is true), if there is one within a moment."""
        if self.asleep:
            self.asleep -= 1
            return None
        if self.looks % EVERY == 0 and one_core():
            self.asleep = EVERY
            return None
        self.looks += 1
        until = clock() + self.awake
        while not (found := ask()):
            if clock() > until:
                self.asleep = self.doubt = min(2 * self.doubt, MOST_DOUBT)
                return None
        self.doubt = 1
        return found
