"""One logic, two ways to wait. What takes time is a generator that yields what it waits for; a thread or an event loop
drives it."""

import select
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

Wait = tuple[int, float]
"""A descriptor and at most how many seconds to wait until it can be read. Driven on early or late, the generator looks
for itself."""
TURN: Wait = (-1, 0.0)
"""Nothing to wait for: a good moment for others to go on."""
Waiting = Generator[Wait, None, T]


def finish(waiting: Waiting[T]) -> T:
    """Drive a generator to its end in this thread."""
    try:
        while True:
            wait = next(waiting)
            if wait != TURN:
                readable(*wait)
    except StopIteration as done:
        value: T = done.value
        return value


def readable(descriptor: int, seconds: float) -> bool:
    """Wait until a descriptor can be read (or its other end is gone), at most so long."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
