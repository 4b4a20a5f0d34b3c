"""Packages besides the standard library, each found in a folder of its own and nowhere else. Loaded only by the fork
server that has such packages: what this module imports itself is not free either."""

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

WORKOUT = "$\\frac{1}{2} + x^2$"


class Known(Distribution):
    """What a package asks about another: its version."""

    def __init__(self, name: str, version: str) -> None:
        self.text = f"Name: {name}\nVersion: {version}\n"

    def read_text(self, filename: str) -> str | None:
        return self.text if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path: str | os.PathLike[str]) -> Any:
        raise FileNotFoundError(path)


class LibraryFinder:
    """Finds the named packages; their submodules are found the usual way."""

    def __init__(self, folders: dict[str, str], versions: dict[str, str]) -> None:
        self.folders = folders
        self.versions = versions

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        folder = self.folders.get(name)
        if folder is None:
            return None
        return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])

    def find_distributions(self, context: DistributionFinder.Context) -> Iterator[Distribution]:
        for name, version in self.versions.items():
            if context.name in (None, name):
                yield Known(name, version)


def load_libraries(folders: dict[str, str], versions: dict[str, str]) -> None:
    """Load `math_verify` where it is, and use it once, so that what it loads late is loaded now."""
    sys.meta_path.append(LibraryFinder(folders, versions))
    import math_verify

    math_verify.verify(math_verify.parse(WORKOUT), math_verify.parse("$0.5 + x^2$"))
