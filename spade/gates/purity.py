"""Reaching out of the program: imports, builtins, ways around them, and state that outlives the object."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spade.allowed import is_allowed_import
from spade.gates.forbidden import CLOCKS, FORBIDDEN_ATTRIBUTES, FORBIDDEN_NAMES, MODULES_BEHIND, MUTATORS
from spade.gates.source import Source, walk

_DUNDERS = re.compile("|".join(sorted(name for name in FORBIDDEN_ATTRIBUTES if name.startswith("__"))))


@dataclass(frozen=True, slots=True)
class Impurity:
    """One finding. `severe` ones fail the gate; the others only warn."""

    line: int
    message: str
    severe: bool = True


@dataclass(frozen=True, slots=True)
class _Names:
    """What the program binds: what it imports, what it assigns at the top, all names it binds anywhere."""

    imported: frozenset[str]
    top: frozenset[str]
    bound: frozenset[str]
    shared: frozenset[str]
    """Aliases of the `random` module."""


def impurities(source: Source) -> list[Impurity]:
    """All findings in line order."""
    names = _names(source)
    found: list[Impurity] = []
    for attribute in source.of(ast.Attribute):
        found += _attribute(attribute, names)
    for name in source.of(ast.Name):
        if name.id in FORBIDDEN_NAMES and name.id not in names.bound:
            found.append(_found(name, f"`{name.id}` is not allowed in an environment."))
    for constant in source.of(ast.Constant):
        if isinstance(constant.value, str) and "__" in constant.value and (word := _DUNDERS.search(constant.value)):
            found.append(_found(constant, f"text that names `{word[0]}` is not allowed."))
    statements: list[ast.Import | ast.ImportFrom] = [*source.of(ast.Import), *source.of(ast.ImportFrom)]
    for statement in statements:
        found += _imports(statement)
    return sorted([*found, *_lasting_state(source, names)], key=lambda i: (i.line, i.message))


def _found(node: ast.expr | ast.stmt, message: str, *, severe: bool = True) -> Impurity:
    return Impurity(node.lineno, f"Line {node.lineno}: {message}", severe)


def _names(source: Source) -> _Names:
    bound = {node.id for node in source.of(ast.Name) if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in source.of(ast.arg)}
    bound |= {node.name for node in source.of(ast.FunctionDef)} | {n.name for n in source.of(ast.AsyncFunctionDef)}
    modules = [alias for node in source.of(ast.Import) for alias in node.names]
    shared = {alias.asname or alias.name for alias in modules if alias.name == "random"}
    imported = {alias.asname or alias.name.partition(".")[0] for alias in modules}
    imported |= {alias.asname or alias.name for node in source.of(ast.ImportFrom) for alias in node.names}
    return _Names(frozenset(imported), frozenset(_assigned_at_top(source)), frozenset(bound), frozenset(shared))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[Impurity]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            yield _found(node, "relative imports are not possible here.")
            return
        for alias in node.names:
            if alias.name.strip("_") in {*MODULES_BEHIND, "*", "SystemRandom"}:
                yield _found(node, f"`from {node.module} import {alias.name}` is not allowed.")
    for module in modules:
        if not is_allowed_import(module):
            yield _found(node, f"module `{module}` is not allowed; use only pure standard-library modules.")


def _attribute(node: ast.Attribute, names: _Names) -> Iterator[Impurity]:
    if node.attr in FORBIDDEN_ATTRIBUTES:
        yield _found(node, f"attribute `{node.attr}` is not allowed in an environment.")
    elif _is_name(node.value, names.imported) and node.attr.strip("_") in {*MODULES_BEHIND, "SystemRandom"}:
        yield _found(node, f"`{_root(node)}.{node.attr}` reaches outside the program.")
    elif node.attr in CLOCKS and _root(node) in names.imported:
        yield _found(node, f"`{node.attr}` reads the clock; an episode may depend on its seed alone.")
    elif _is_name(node.value, names.shared) and node.attr[:1].islower():
        advice = "draw from `random.Random(seed)` kept on `self`, not from the shared module."
        yield _found(node, advice, severe=False)


def _lasting_state(source: Source, names: _Names) -> Iterator[Impurity]:
    """Writes from functions to names of the module: they outlive the episode."""
    for function in source.functions:
        nodes = walk(function)
        own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        for node in nodes:
            name = _written(node, names, own)
            if name and isinstance(node, ast.expr | ast.stmt):
                yield _found(node, f"writes to `{name}`, which belongs to the module; keep all state on `self`.")


def _written(node: ast.AST, names: _Names, own: set[str]) -> str:
    """The name of the module that this node writes to, if any."""
    if isinstance(node, ast.Global):
        return node.names[0]
    root, reachable = "", names.top
    if isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node.ctx, ast.Store | ast.Del):
            root, reachable = _root(node), names.top | names.imported
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            root = _root(node.func)
        elif _is_name(node.func, {"next", "setattr", "delattr"}) and node.args:
            root, reachable = _root(node.args[0]), names.top | names.imported
    return root if root in reachable and root not in own else ""


def _assigned_at_top(source: Source) -> Iterator[str]:
    assert source.tree is not None
    for statement in source.tree.body:
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef):
            stored = (n for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            yield from (node.id for node in stored)


def _is_name(node: ast.AST, names: frozenset[str] | set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _root(node: ast.AST) -> str:
    """The name that an attribute or item belongs to; empty where a call stands between, which made something new."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
