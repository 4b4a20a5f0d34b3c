"""Files appear whole or not at all: temporary name, flush to disk, atomic rename; and trouble in a person's words."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from spade.errors import Abort

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "Free some space, then run again: nothing half-written was left."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space, then run again: nothing half-written was left."),
    errno.EFBIG: ("the file would be larger than this process may write", "Raise the limit (ulimit -f)."),
    errno.EROFS: ("the file system is read-only", "Choose a writable folder with `home`."),
    errno.EACCES: ("permission denied", "Choose a writable folder with `home`, or change its owner."),
    errno.EPERM: ("permission denied", "Choose a writable folder with `home`, or change its owner."),
    errno.ENOTDIR: ("a file stands where a folder is needed", "Choose another folder with `home`."),
    errno.EEXIST: ("a file stands where a folder is needed", "Choose another folder with `home`."),
}


def abort_for(error: OSError, path: Path) -> Abort:
    """The one sentence a person gets for a file system error."""
    trouble, remedy = _REMEDIES.get(
        error.errno or 0, (error.strerror or str(error), "Check the folder, then run again.")
    )
    return Abort(f"cannot write {path}: {trouble}.", remedy)


def folder_made(folder: Path) -> None:
    """Make the folder and its parents. Raises `Abort`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise abort_for(error, folder) from error


@contextmanager
def written(path: Path, prefix: str = ".tmp-", *, flushed: bool = True) -> Iterator[BinaryIO]:
    """A file to write into that becomes `path` when the block ends well and vanishes when it does not. What can be
    made again need not be `flushed` to disk: some milliseconds a file.

    Raises `Abort` for a full disk or a folder that cannot be written.
    """
    temporary = path.parent / f"{prefix}{os.getpid()}-{secrets.token_hex(6)}"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            if flushed:
                os.fsync(file.fileno())
        os.replace(temporary, path)
        if flushed:
            flush_folder(path.parent)
    except OSError as error:
        raise abort_for(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def flush_folder(folder: Path) -> None:
    """Make renames in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
