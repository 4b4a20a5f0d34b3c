"""Errors are named for what the caller should do, not for what broke.

How untrusted code or a model ended is never an exception but a value (`spade.outcomes`). What is raised on purpose is
one of three: `Retry`, `Skip`, `Abort`. An exception is attributed once, at the boundary where it entered; the first
name wins.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class SpadeError(Exception):
    """Base of everything we raise on purpose. `remedy` is a sentence a person can act on."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class Retry(SpadeError):
    """The same call may succeed later: a rate limit, a dropped connection, a lost sandbox."""


class Skip(SpadeError):
    """This item is beyond help; carry on with the next."""


class TooLong(Skip):
    """The request does not fit the model's context: a fact about both, which people must be able to count."""


class Abort(SpadeError):
    """Wrong for every item: bad settings, wrong key, read-only folder. Stop the run; the command line exits with 2."""


@contextmanager
def boundary(error: type[SpadeError], doing: str, remedy: str = "") -> Iterator[None]:
    """Attribute whatever escapes the block to one error; a `SpadeError` passes through untouched."""
    try:
        yield
    except SpadeError:
        raise
    except Exception as cause:
        raise error(f"{doing}: {type(cause).__name__}: {cause}.", remedy) from cause
