"""Which packages hold benchmarks, which version is known to fit, and where their environments lie."""

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from data.benchmarks.worker import Workers
from spade.errors import Abort
from spade.evaluating import MarkerError


@dataclass(frozen=True, slots=True)
class Package:
    """A benchmark's distribution: the folder of its environment, the version, and the script that serves it."""

    name: str
    version: str
    script: str


REASONING_GYM = Package("reasoning-gym", "0.1.25", "reasoning_gym_worker.py")
BFCL = Package("bfcl-eval", "2026.3.23", "bfcl_worker.py")
TEXTARENA = Package("textarena", "0.7.4", "textarena_worker.py")
MAKE = "scripts/suite_environment.sh"


def python_of(package: Package, environments: Path) -> Path:
    """The interpreter of the package's own environment, or ours where the package is installed here.

    Raises `Abort` when it is in neither."""
    own = environments.expanduser() / package.name / "bin" / "python"
    if own.exists():
        return own
    try:
        version(package.name)
    except PackageNotFoundError:
        raise Abort(
            f"The suite needs the package {package.name}=={package.version}, and there is no environment with it at "
            f"{own.parents[1]}.",
            f"Make it with `{MAKE} {package.name}`, or point evaluation.environments to where it is.",
        ) from None
    return Path(sys.executable)


async def greeted(workers: Workers, package: Package) -> dict[str, Any]:
    """What the worker says of itself. Raises `Abort` when the package does not load or has another version."""
    remedy = f"Make its environment anew with `{MAKE} {package.name}`."
    try:
        said: dict[str, Any] = await workers.call("hello")
    except MarkerError as error:
        raise Abort(f"The package {package.name} does not load ({error}).", remedy) from error
    if said["version"] != package.version:
        raise Abort(f"The suite needs {package.name}=={package.version} and found {said['version'] or 'none'}.", remedy)
    return said
