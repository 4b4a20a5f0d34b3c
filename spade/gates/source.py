"""What a program's text says before it runs: its tree, its environment class and that class's methods."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from spade.parsing import parse_tree
from spade.skills import Setting

TOOL_TURNS = 20
"""The turn cap of a `ToolEnv` that names none."""
WALKED = "_walked"
"""Attribute of a node that keeps what lies below it. Nobody changes a tree once it is read."""
T = TypeVar("T")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed program. `tree` is None when it does not parse; `problem` then says why.

    `nodes` are all nodes of the tree, `by_kind` the same by type, `functions` those that stand in no other function.
    `methods` maps a name to its definition, bases within the module included, the class's own first. `max_turns` is the
    default of `__init__`, None when it is not a whole number written down.
    """

    code: str
    tree: ast.Module | None
    problem: str = ""
    nodes: tuple[ast.AST, ...] = ()
    functions: tuple[Function, ...] = ()
    environments: tuple[ast.ClassDef, ...] = ()
    methods: dict[str, Function] = field(default_factory=dict)
    max_turns: int | None = None
    by_kind: dict[type, list[Any]] = field(default_factory=dict)

    def of(self, *kinds: type[T]) -> list[T]:
        """The nodes of these kinds, kind by kind."""
        return [node for kind in kinds for node in self.by_kind.get(kind, ())]


@lru_cache(maxsize=64)
def read_source(code: str) -> Source:
    """Never raises, whatever the text is. Remembers the last programs, which are asked for again."""
    tree, problem = parse_tree(code)
    if tree is None:
        return Source(code, None, problem)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    environments = tuple(c for c in classes.values() if c.name.endswith("Env") and not c.name.startswith("_"))
    bases = {base for c in environments for base in _base_names(c)}
    environments = tuple(c for c in environments if c.name not in bases)
    methods = _methods(environments[0], classes) if len(environments) == 1 else {}
    nodes = tuple(walk(tree))
    turns = _max_turns(tree, methods.get("__init__"))
    if environments and any(base == "ToolEnv" for base in _base_names(environments[0])):
        turns = _class_constant(environments[0], "max_turns", TOOL_TURNS)
    by_kind: dict[type, list[Any]] = {}
    for node in nodes:
        by_kind.setdefault(type(node), []).append(node)
    return Source(code, tree, "", nodes, tuple(_outermost(tree)), environments, methods, turns, by_kind)


def walk(node: ast.AST) -> list[ast.AST]:
    """As `ast.walk`, in the same order, at a third of its cost. A second walk answers what the first found."""
    known: list[ast.AST] | None = node.__dict__.get(WALKED)
    if known is not None:
        return known
    found = [node]
    node.__dict__[WALKED] = found
    for at in found:
        for name in at._fields:
            value = getattr(at, name, None)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def setting_of(code: str) -> Setting:
    """Tool use where the program subclasses `ToolEnv`, games otherwise."""
    source = read_source(code)
    bases = {base for node in source.environments for base in _base_names(node)}
    return Setting.TOOLS if "ToolEnv" in bases else Setting.GAMES


def _outermost(tree: ast.Module) -> Iterator[Function]:
    """Functions and methods, but not those inside them."""
    queue: list[ast.AST] = list(tree.body)
    while queue:
        node = queue.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.stmt):
            queue += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def constant(node: ast.AST | None) -> object:
    """The value of a literal, signs included; `...` when the node is not one."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = constant(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    return ...


def _base_names(node: ast.ClassDef) -> list[str]:
    return [base.id for base in node.bases if isinstance(base, ast.Name)]


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, Function]:
    methods: dict[str, Function] = {}
    queue, seen = [node], set()
    while queue:
        current = queue.pop(0)
        if current.name in seen:
            continue
        seen.add(current.name)
        for item in current.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                methods.setdefault(item.name, item)
        queue += [classes[name] for name in _base_names(current) if name in classes]
    return methods


def _max_turns(tree: ast.Module, init: Function | None) -> int | None:
    if init is None:
        return None
    parameters = [*init.args.posonlyargs, *init.args.args]
    defaults: list[ast.expr | None] = [None] * (len(parameters) - len(init.args.defaults)) + list(init.args.defaults)
    pairs = list(zip(parameters, defaults, strict=True))
    pairs += list(zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True))
    default = next((d for parameter, d in pairs if parameter.arg == "max_turns"), None)
    value = constant(default)
    if isinstance(default, ast.Name):
        value = _module_constant(tree, default.id)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _class_constant(node: ast.ClassDef, name: str, otherwise: int) -> int | None:
    for item in node.body:
        if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in item.targets):
            value = constant(item.value)
            return value if isinstance(value, int) and not isinstance(value, bool) else None
    return otherwise


def _module_constant(tree: ast.Module, name: str) -> object:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return constant(getattr(node, "value", None))
    return ...
