"""How much disk the run artifacts take, folder by folder."""

import os
from collections.abc import Iterator
from pathlib import Path


def disk_bytes(home: Path) -> int:
    """Bytes on disk of everything under `home`; what goes away meanwhile counts nothing."""
    return sum(_sizes(home))


def disk_by_folder(home: Path) -> dict[str, int]:
    """Bytes on disk of each folder directly under `home`, largest first."""
    folders = [p for p in home.iterdir() if p.is_dir() and not p.is_symlink()] if home.is_dir() else []
    found = {folder.name: disk_bytes(folder) for folder in folders}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _sizes(folder: Path) -> Iterator[int]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _sizes(Path(entry.path))
                else:
                    yield _size(entry)
    except OSError:
        return


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:
        return 0
