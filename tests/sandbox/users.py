"""Run part of the suite as an ordinary user, where the suite itself runs as root."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ORDINARY = 61_999
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def ordinary_python() -> str | None:
    """An interpreter of this version that an ordinary user may run, with nothing of root's in its way."""
    for candidate in (os.path.realpath(sys.executable), f"/usr/bin/python{VERSION}", f"/usr/local/bin/python{VERSION}"):
        if os.path.exists(candidate) and run_as_ordinary([candidate, "-c", "pass"]).returncode == 0:
            return candidate
    return None


def run_as_ordinary(command: list[str], *, seconds: float = 300) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            user=ORDINARY,
            group=ORDINARY,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 126, "", str(error))


def suite_as_ordinary(*files: str) -> "subprocess.CompletedProcess[str] | None":
    """The named test files run by an ordinary user; None where no interpreter can be had."""
    python = ordinary_python()
    if python is None:
        return None
    paths = [str(Path(__file__).parent / file) for file in files]
    return run_as_ordinary([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *paths])
