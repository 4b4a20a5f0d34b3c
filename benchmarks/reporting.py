"""What benchmarks print: a line a figure, or JSON rows."""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

LESS_IS_BETTER = ("s", "ms", "MB", "MiB", "%", "failed")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `target` is null where nothing was promised; `ok` then is null too."""

    name: str
    value: float
    unit: str
    target: float | None = None

    @property
    def ok(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.unit in LESS_IS_BETTER else self.value >= self.target

    def line(self) -> str:
        aim = "" if self.ok is None else f"  (aim {self.target:g}: {'reached' if self.ok else 'missed'})"
        return f"{self.name:<52} {self.value:>12,} {self.unit}{aim}"


def machine() -> str:
    """The machine in one line, for the head of a table."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"
    )


def as_json(rows: Iterable[Row], **more: object) -> str:
    """The rows as every benchmark's `--json` gives them, beside what one benchmark has to add."""
    return json.dumps({"rows": [{**asdict(row), "ok": row.ok} for row in rows], **more})


def show(rows: Sequence[Row], *, as_lines: bool) -> None:
    """Print the machine and a line a row, or JSON."""
    if not as_lines:
        print(as_json(rows))
        return
    print(machine())
    for row in rows:
        print(row.line())
