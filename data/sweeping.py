"""Files that have had their time: cached verdicts, pages of old cycles, logs beyond their bound, leftovers of kills."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from spade.operating_settings import RetentionSettings

DAY = 86400.0
LEFTOVER_SECONDS = 3600.0
"""A temporary folder this old belongs to a process that died."""


def sweep(home: Path, settings: RetentionSettings, cycle_ids: Sequence[str]) -> dict[str, int]:
    """Delete what the settings no longer keep; how many files or folders of each sort went.

    `cycle_ids` are the finished cycles, oldest first.
    """
    return {
        "cached verdicts": _old_files(home / "prefect" / "storage", settings.cache_days),
        "report pages": _old_pages(home / "report", settings.reports_cycles, cycle_ids),
        "logs": _shortened(home / "logs", settings.logs_mb * 2**20),
        "leftovers": _leftovers(home / "datasets"),
    }


def _old_files(folder: Path, days: int) -> int:
    if not days:
        return 0
    before = time.time() - days * DAY
    return sum(_deleted(p) for p in _files(folder) if _modified(p) < before)


def _old_pages(folder: Path, kept: int | None, cycle_ids: Sequence[str]) -> int:
    if kept is None:
        return 0
    old = set(cycle_ids[: max(0, len(cycle_ids) - kept)])
    return sum(_deleted(p) for p in _files(folder) if any(part.removesuffix(".html") in old for part in p.parts))


def _shortened(folder: Path, most: int) -> int:
    """Each log keeps its newest half while all of them together are too large."""
    logs = sorted(_files(folder), key=lambda p: -p.stat().st_size)
    cut = 0
    while logs and sum(p.stat().st_size for p in logs) > most:
        size = logs[0].stat().st_size
        _keep_end(logs[0], min(size // 2, most // 2))
        cut += 1
        logs.sort(key=lambda p: -p.stat().st_size)
    return cut


def _keep_end(path: Path, size: int) -> None:
    """In place, because whoever writes the log has it open for appending."""
    with path.open("r+b") as file:
        file.seek(-size, 2)
        end = file.read()
        file.seek(0)
        file.write(end[end.find(b"\n") + 1 :])
        file.truncate()


def _leftovers(folder: Path) -> int:
    old = [p for p in folder.glob(".tmp-*") if _modified(p) < time.time() - LEFTOVER_SECONDS]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else iter(())


def _modified(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return time.time()


def _deleted(path: Path) -> bool:
    with suppress(OSError):
        path.unlink()
        return True
    return False
