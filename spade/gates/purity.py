"""Reaching out of the program: imports, builtins, ways around them, and state that outlives the object."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from spade.allowed import is_allowed_import
from spade.gates.forbidden import CLOCKS, FORBIDDEN_ATTRIBUTES, FORBIDDEN_NAMES, MODULES_BEHIND, MUTATORS
from spade.gates.source import walk_functions


@dataclass(frozen=True, slots=True)
class Impurity:
    """One finding. `severe` ones fail the gate; the others only warn."""

    line: int
    message: str
    severe: bool = True


def impurities(tree: ast.Module) -> list[Impurity]:
    """All findings in line order."""
    found = [*_imports(tree), *_reach(tree), *_lasting_state(tree), *_shared_randomness(tree)]
    return sorted(found, key=lambda i: (i.line, i.message))


def _imports(tree: ast.Module) -> Iterator[Impurity]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not is_allowed_import(alias.name):
                    yield _bad_import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                yield Impurity(node.lineno, f"Line {node.lineno}: relative imports are not possible here.")
            elif not is_allowed_import(node.module):
                yield _bad_import(node.lineno, node.module)
            yield from _smuggled(node)


def _bad_import(line: int, module: str) -> Impurity:
    return Impurity(line, f"Line {line}: module `{module}` is not allowed; use only pure standard-library modules.")


def _smuggled(node: ast.ImportFrom) -> Iterator[Impurity]:
    for alias in node.names:
        if alias.name in MODULES_BEHIND or alias.name.strip("_") in MODULES_BEHIND or alias.name == "*":
            yield Impurity(node.lineno, f"Line {node.lineno}: `from {node.module} import {alias.name}` is not allowed.")
        if node.module == "random" and alias.name == "SystemRandom":
            yield Impurity(node.lineno, f"Line {node.lineno}: draw from `random.Random(seed)`, not from SystemRandom.")


def _reach(tree: ast.Module) -> Iterator[Impurity]:
    modules = set(_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES and isinstance(node.ctx, ast.Load):
            if not _is_bound(tree, node.id):
                yield Impurity(node.lineno, f"Line {node.lineno}: `{node.id}` is not allowed in an environment.")
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, modules)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = next((w for w in FORBIDDEN_ATTRIBUTES if w in node.value and w.startswith("__")), "")
            if word:
                yield Impurity(node.lineno, f"Line {node.lineno}: text that names `{word}` is not allowed.")


def _attribute(node: ast.Attribute, modules: set[str]) -> Iterator[Impurity]:
    where = f"Line {node.lineno}:"
    if node.attr in FORBIDDEN_ATTRIBUTES:
        yield Impurity(node.lineno, f"{where} attribute `{node.attr}` is not allowed in an environment.")
    elif _is_name(node.value, modules) and node.attr.strip("_") in {*MODULES_BEHIND, "SystemRandom"}:
        yield Impurity(node.lineno, f"{where} `{_root(node)}.{node.attr}` reaches outside the program.")
    if node.attr in CLOCKS and _root(node) in modules:
        yield Impurity(node.lineno, f"{where} `{node.attr}` reads the clock; an episode may depend on its seed alone.")


def _lasting_state(tree: ast.Module) -> Iterator[Impurity]:
    """Writes from functions to names of the module: they outlive the episode."""
    top = set(_imported(tree)) | set(_assigned_at_top(tree))
    for function in walk_functions(tree):
        shadowed = _locals(function)
        reachable = top - shadowed
        for node in ast.walk(function):
            name = _written_global(node, reachable)
            if name:
                yield Impurity(
                    node.lineno,  # type: ignore[attr-defined]
                    f"Line {node.lineno}: writes to `{name}`, which belongs to the module; "  # type: ignore[attr-defined]
                    "keep all state on `self` and set it in `reset`.",
                )


def _written_global(node: ast.AST, reachable: set[str]) -> str:
    if isinstance(node, ast.Global):
        return node.names[0]
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return _root(node) if _root(node) in reachable else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        root = _root(node.func)
        return root if root in reachable else ""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"next", "setattr", "delattr"}
    ):
        root = _root(node.args[0]) if node.args else ""
        return root if root in reachable else ""
    return ""


def _shared_randomness(tree: ast.Module) -> Iterator[Impurity]:
    aliases = {
        a.asname or a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names if a.name == "random"
    }
    advice = "draw from `random.Random(seed)` kept on `self`, not from the shared module."
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_name(node.value, aliases) and node.attr[:1].islower():
            yield Impurity(node.lineno, f"Line {node.lineno}: {advice}", severe=False)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _assigned_at_top(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef):
            stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            yield from (node.id for node in stored)


def _locals(function: ast.AST) -> set[str]:
    """Names the function (or one inside it) binds itself, its parameters included."""
    bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return bound | {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}


def _is_bound(tree: ast.Module, name: str) -> bool:
    """Whether the program gives the name a meaning of its own, which is then not the builtin."""
    return name in _locals(tree) or any(f.name == name for f in walk_functions(tree))


def _is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
