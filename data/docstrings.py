"""What installed Python packages say of themselves: their docstrings as documents, licence carried along.

Sources are parsed and never imported, so nothing of a package runs.
"""

import ast
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

from data.document_sources import BrokenLine, Found
from spade.documents import Document
from spade.errors import Abort

MIN_WORDS = 40
"""Shorter docstrings say too little to ground an environment in."""
SUBJECT = "code"
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings_of(package: str, min_words: int = MIN_WORDS) -> Iterator[Found]:
    """One document for each public module, class and function with a docstring of at least `min_words` words.

    `package`: the name of an installed distribution or of an importable package. Raises `Abort` where there is none.
    """
    for name in _modules(package):
        source, license = _origin(name)
        for number, (file, module) in enumerate(_sources(name), start=1):
            try:
                tree = ast.parse(file.read_bytes())
            except (SyntaxError, ValueError, RecursionError, OSError):
                yield BrokenLine(number, "it cannot be parsed", str(file.name))
                continue
            for title, head, text in _said(tree, module):
                if len(text.split()) >= min_words:
                    yield Document(f"{head}\n\n{text}".strip(), title, SUBJECT, source, license)


def _modules(package: str) -> list[str]:
    """The top-level modules of a distribution, or the package itself."""
    key = _canonical(package)
    found = sorted(name for name, owners in _owners().items() if key in {_canonical(o) for o in owners})
    public = [name for name in found if not name.startswith("_")]
    return public or [package]


def _sources(name: str) -> Iterator[tuple[Path, str]]:
    """The source files of a top-level module, with the module's dotted name; tests and private parts left out."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None or "." in name:
        raise Abort(f"There is no installed package {name!r}.", "`pip list` shows which there are.")
    folders = list(spec.submodule_search_locations or [])
    if not folders and spec.origin and spec.origin.endswith(".py"):
        yield Path(spec.origin), name
    for folder in map(Path, folders):
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            inner = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(p.startswith("_") or p in ("tests", "test", "conftest") for p in inner):
                yield file, ".".join((name, *inner))


def _said(tree: ast.Module, module: str) -> Iterator[tuple[str, str, str]]:
    """Dotted name, first line and docstring of the module and of what is public in it."""
    waiting: list[tuple[_Documented, str]] = [(tree, module)]
    while waiting:
        node, name = waiting.pop(0)
        if text := ast.get_docstring(node):
            yield name, _head(node, name), text
        if isinstance(node, ast.Module | ast.ClassDef):
            inner = (n for n in node.body if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef))
            waiting += [(n, f"{name}.{n.name}") for n in inner if not n.name.startswith("_")]


def _head(node: _Documented, name: str) -> str:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            return f"{name}({ast.unparse(node.args)}){returns}"
        case ast.ClassDef():
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            return f"class {name}({bases})" if bases else f"class {name}"
    return f"module {name}"


def _origin(name: str) -> tuple[str, str]:
    """Who a module comes from, with version, and under which licence; that of Python for its standard library."""
    owners = _owners().get(name)
    if owners:
        try:
            found = distribution(owners[0])
        except PackageNotFoundError:
            return owners[0], ""
        return f"{found.metadata['Name']} {found.version}", license_of(found)
    if name in sys.stdlib_module_names:
        return f"Python {sysconfig.get_python_version()}", "PSF-2.0"
    return name, ""


def license_of(found: Distribution) -> str:
    """What a distribution says of its licence: the expression, a short text, or the classifiers; empty if nothing."""
    metadata = found.metadata
    for key in ("License-Expression", "License"):
        said = " ".join((metadata[key] or "").split()) if key in metadata else ""
        if said and said != "UNKNOWN" and len(said) <= 60:
            return said
    classified = [c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    return ", ".join(c for c in classified if c != "OSI Approved")


@cache
def _owners() -> dict[str, list[str]]:
    return {name: sorted(set(owners)) for name, owners in packages_distributions().items()}


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
