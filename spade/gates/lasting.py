"""Attributes that may outlive an episode: written somewhere, and never set anew by `reset`.

Such a program is played for long in one process before it is believed (`spade.gates.stages`): it may count episodes.
"""

import ast
from collections.abc import Iterator

from spade.gates.forbidden import MUTATORS
from spade.gates.source import Function, Source, walk

BEGINNINGS = ("reset", "setup")
MOST_EPISODES = 2000
MARGIN = 50
_PEEKS = frozenset({"getattr", "hasattr", "setattr"})


def lasting_attributes(source: Source) -> set[str]:
    """Names of attributes of `self` that keep what an earlier episode left, as far as the text tells."""
    written: set[str] = set()
    for name, method in source.methods.items():
        if name != "__init__":
            written |= set(_written(method))
    renewed: set[str] = set()
    for method in _called_from(source, BEGINNINGS):
        renewed |= set(_renewed(method))
    return written - renewed


def episodes_to_play(source: Source) -> int:
    """Episodes after which a counter has passed every number that the program compares something with; 0 for a program
    without lasting attributes."""
    if not lasting_attributes(source):
        return 0
    numbers = [
        part.value
        for node in source.of(ast.Compare)
        for part in walk(node)
        if isinstance(part, ast.Constant) and type(part.value) is int
    ]
    return min(MOST_EPISODES, max((n for n in numbers if n > 0), default=0) + MARGIN)


def _written(method: Function) -> Iterator[str]:
    for node in walk(method):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from _own(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            yield from _own(node.func.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            yield _named(node) or "*"


def _renewed(method: Function) -> Iterator[str]:
    """Attributes that a plain assignment sets to something that does not depend on what they were."""
    for node in walk(method):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if not targets or value is None:
            continue
        read = {name for part in walk(value) for name in (*_own(part), *_peeked(part))}
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                    yield from (name for name in _own(part) if name not in read)


def _called_from(source: Source, names: tuple[str, ...]) -> list[Function]:
    """These methods and those of `self` that they call, and so on."""
    found: dict[str, Function] = {}
    queue = [name for name in names if name in source.methods]
    while queue:
        name = queue.pop()
        if name in found:
            continue
        found[name] = source.methods[name]
        calls = (n.func for n in walk(source.methods[name]) if isinstance(n, ast.Call))
        own = (called for func in calls if isinstance(func, ast.Attribute) for called in _own(func))
        queue += [called for called in own if called in source.methods]
    return list(found.values())


def _own(node: ast.AST) -> Iterator[str]:
    """The attribute of `self` that a node is or lies in."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr
            return
        node = node.value


def _peeked(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PEEKS:
        yield _named(node) or "*"


def _named(call: ast.Call) -> str:
    second = call.args[1] if len(call.args) > 1 else None
    return second.value if isinstance(second, ast.Constant) and isinstance(second.value, str) else ""
