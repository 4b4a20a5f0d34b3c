"""Ctrl-C in a command that keeps what it has done: a sentence instead of a traceback, and the shell's exit code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def stoppable(next_time: str = "The same command goes on where this one ended.") -> Iterator[None]:
    """End with code 130 on Ctrl-C, as shells do for it, and say what comes `next_time`."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nStopped. {next_time}", file=sys.stderr)
        raise typer.Exit(130) from None
