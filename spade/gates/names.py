"""Names a program uses but nobody defines, by Python's own scoping rules."""

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator

from spade.gates.source import Source

_KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__", "__annotations__", "__class__"}


def undefined_names(source: Source, injected: Iterable[str] = ()) -> list[tuple[str, int]]:
    """(name, first line of use) of each undefined name, in order of use. Empty when the text has no symbol table."""
    try:
        table = symtable.symtable(source.code, "<program>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if any(alias.name == "*" for node in source.of(ast.ImportFrom) for alias in node.names):
        return []
    module = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    module |= {name for scope in _scopes(table) for name in _declared_global(scope)}
    known = module | _KNOWN | set(injected)
    missing = {name for scope in _scopes(table) for name in _free_globals(scope) if name not in known}
    uses = [n for n in source.of(ast.Name) if n.id in missing and isinstance(n.ctx, ast.Load)]
    lines: dict[str, int] = {}
    for node in sorted(uses, key=lambda n: (n.lineno, n.col_offset)):
        lines.setdefault(node.id, node.lineno)
    return list(lines.items())


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    queue = [table]
    while queue:
        scope = queue.pop()
        yield scope
        queue += scope.get_children()


def _declared_global(scope: symtable.SymbolTable) -> Iterator[str]:
    return (s.get_name() for s in scope.get_symbols() if s.is_declared_global() and s.is_assigned())


def _free_globals(scope: symtable.SymbolTable) -> Iterator[str]:
    top = scope.get_type() == "module"
    for symbol in scope.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or (top and not symbol.is_assigned())):
            yield symbol.get_name()
