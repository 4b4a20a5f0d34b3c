"""Folders and files that appear whole or not at all: made under another name, flushed to disk, renamed."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spade.errors import Abort

TEMPORARY = ".making-"


@contextmanager
def folder_appearing(target: Path) -> Iterator[Path]:
    """A folder to fill that becomes `target` when the block ends well and vanishes when it does not.

    A `target` that is there already stays as it is. Raises `Abort` for a full disk or a folder that cannot be written.
    """
    part = target.parent / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        part.mkdir(parents=True)
        yield part
        for path in sorted(part.rglob("*")):
            _flush(path)
        if not target.exists():
            os.replace(part, target)
        _flush(target.parent)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "Free some space, then run again." if full else "Choose a writable folder with `home`."
        raise Abort(f"cannot write {target}: {error.strerror or error}.", remedy) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what killed writers left half-made."""
    for left in folder.glob(f"{TEMPORARY}*"):
        owner = left.name.removeprefix(TEMPORARY).partition("-")[0]
        if not (owner.isdigit() and Path(f"/proc/{owner}").exists()):
            shutil.rmtree(left, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
