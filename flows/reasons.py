"""Why Prefect's server failed, in a person's words: what its log and our exceptions say, each with its remedy."""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from data.writing import abort_for
from spade.errors import Abort, SpadeError

TAIL_BYTES = 65_536
LEAST_BYTES = 32 * 2**20
"""Free bytes below which nothing is begun: Prefect's database alone needs a few MiB."""
STARTED = "--- started: "
"""Begins the line that separates one server's words from those of the one before."""
FULL = ("the disk is full", "Free some space, then run again: nothing half-written was left.")
KNOWN = (
    (
        "database is locked",
        "its database is locked",
        "Stop the other process that has it open (another `spade up` or `spade ui` of this folder?). "
        "Keep var/prefect on a local disk, or use Postgres.",
    ),
    ("database or disk is full", *FULL),
    ("No space left on device", *FULL),
    ("Disk quota exceeded", "the disk quota is used up", FULL[1]),
    (
        "readonly database",
        "its database cannot be written",
        "Mend the owner and the permissions of var/prefect.",
    ),
    (
        "database disk image is malformed",
        "its database is damaged",
        "Move var/prefect/prefect.db away: the history of runs is lost, the catalog is not.",
    ),
    (
        "Can't locate revision",
        "its database was made by a newer version of Prefect",
        "Install that version again, or move var/prefect/prefect.db away: only the history of runs is lost.",
    ),
    (
        "password authentication failed",
        "the database refuses the password",
        "Mend PREFECT_API_DATABASE_CONNECTION_URL.",
    ),
    (
        "Connect call failed",
        "its database does not answer",
        "Start it, or mend PREFECT_API_DATABASE_CONNECTION_URL.",
    ),
)


def server_log(home: Path) -> Path:
    return home / "logs" / "prefect-server.log"


def from_log(home: Path) -> tuple[str, str] | None:
    """What the newest server said of its trouble, and the remedy; None where it said nothing that is known."""
    try:
        with server_log(home).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            said = file.read().decode("utf-8", "replace").rpartition(STARTED)[2]
    except OSError:
        return None
    if shutil.disk_usage(home).free == 0:
        return FULL
    return next(((trouble, remedy) for words, trouble, remedy in KNOWN if words in said), None)


def ended_while_starting(home: Path) -> Abort:
    """For a server that did not come up."""
    trouble, remedy = from_log(home) or ("", f"Its log is {server_log(home)}.")
    return Abort(f"The Prefect server ended while starting{': ' if trouble else ''}{trouble}.", remedy)


def died_again_and_again(home: Path) -> Abort:
    """For a run whose server was started again in vain."""
    return _server_failed(home, "it dies again and again")


def end_at_once(home: Path, told: bool) -> None:
    """End this process with the sentence for a server that is gone, unless that was told, and exit code 2."""
    if not told:
        show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
        print(f"{show_cursor}\nspade: {died_again_and_again(home)}", file=sys.stderr, flush=True)
    os._exit(2)


def explained(error: BaseException, home: Path) -> SpadeError | None:
    """The one sentence for what ended a run; None for what nobody foresaw."""
    for cause in _causes(error):
        if isinstance(cause, SpadeError):
            return cause
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return abort_for(cause, home)
    if any(_of_server(cause) for cause in _causes(error)):
        return _server_failed(home, "it does not answer any more")
    return None


def _server_failed(home: Path, otherwise: str) -> Abort:
    trouble, remedy = from_log(home) or (otherwise, f"Its log is {server_log(home)}.")
    return Abort(f"Prefect's server failed: {trouble}.", f"{remedy} The same command goes on where this one ended.")


@contextmanager
def plainly(home: Path) -> Iterator[None]:
    """What ends the block and is known becomes an `Abort` with its remedy; all else goes on as it is."""
    try:
        yield
    except SpadeError:
        raise
    except Exception as error:
        known = explained(error, home)
        if known is None:
            raise
        raise known from error


def room(home: Path) -> None:
    """Raises `Abort` where so little of the disk is free that a run would stop in its middle."""
    free = shutil.disk_usage(home).free
    if free < LEAST_BYTES:
        raise Abort(
            f"The disk that holds {home} is full: {free / 2**20:.0f} MiB are free.",
            "Free some space (`spade maintain` expires what is old), or choose another folder with --home.",
        )


def _of_server(cause: BaseException) -> bool:
    if isinstance(cause, httpx.HTTPStatusError):
        return cause.response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR
    return isinstance(cause, httpx.TransportError)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
