"""Waiting awake, for a moment: to wake a process that sleeps on another core costs more than the step of most programs.

Host and program both do it, each on a core of its own: measured on two cores, 45,000 to 55,000 single steps a second
where sleeping sides make 13,000 to 28,000. It costs a moment of processor time each time it is in vain,
and then is not tried again for a while: a partner that thinks for long is waited for asleep, and so is one that can
only run where we do.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

AWAKE = 100e-6
"""Seconds; a little more than it takes to wake a sleeping core."""
MOST_DOUBT = 256
clock = time.perf_counter
"""Ours; programs are shown another."""


class Attention:
    """Whether it is worth while to wait awake for one partner."""

    __slots__ = ("asleep", "awake", "doubt")

    def __init__(self, asleep: int = 0, awake: float = AWAKE) -> None:
        self.doubt = 1
        self.asleep = asleep
        """Waits to sleep through before the next try: twice as many after each that was in vain."""
        self.awake = awake
        """Seconds to stay awake."""

    def look(self, ask: Callable[[], T]) -> T | None:
        """The first answer of `ask` that says something (is true), if there is one within a moment."""
        if self.asleep:
            self.asleep -= 1
            return None
        until = clock() + self.awake
        while not (found := ask()):
            if clock() > until:
                self.asleep = self.doubt = min(2 * self.doubt, MOST_DOUBT)
                return None
        self.doubt = 1
        return found
