"""What is sent to a machine: the local sandbox as it stands here, and `math_verify` for programs that name it."""

import functools
import io
import tarfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from sandbox.launching import ANTLR, Kind, libraries_outside

HERE = Path(__file__).parents[2]
RULES = ("__init__", "allowed", "errors", "identity", "messages", "outcomes", "ports")
"""The modules of `spade` that the local sandbox needs."""


@functools.cache
def sources() -> dict[str, bytes]:
    """Every module of the local sandbox, by its path. Standard library only."""
    paths = [*(HERE / "sandbox").rglob("*.py"), *(HERE / "spade" / f"{name}.py" for name in RULES)]
    return {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted(paths)}


@functools.cache
def libraries() -> bytes:
    """A compressed archive of `math_verify` and what it needs, without their tests."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
        for name, folder in libraries_outside(Kind(mathematics=True)).items():
            archive.add(folder, name, filter=wanted)
        try:
            known = distribution(ANTLR)
        except PackageNotFoundError:
            return packed.getvalue()
        metadata = Path(str(known.locate_file("")))
        for entry in metadata.glob(f"{ANTLR.replace('-', '_')}-*.dist-info"):
            archive.add(entry, entry.name)
    return packed.getvalue()


def wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    parts = entry.name.split("/")
    return None if {"tests", "__pycache__", "benchmarks"} & set(parts) else entry
