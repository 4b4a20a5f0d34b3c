"""Is this environment new? Exact and structural duplicates; nearness in meaning is asked of the memory."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spade.identity import digest
from spade.ports import Recalled
from spade.verdicts import Status, Verdict


class _Skeleton(ast.NodeTransformer):
    """Names become their order of appearance, texts vanish; numbers and structure stay."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def _short(self, name: str) -> str:
        return self._names.setdefault(name, f"n{len(self._names)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._short(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._short(node.arg))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._short(node.name)
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [self.visit(v) for v in node.values if isinstance(v, ast.FormattedValue)]
        return ast.JoinedStr(values)


def structural_hash(code: str) -> str:
    """Equal for programs that differ in names, texts, comments and layout only. Raises `SyntaxError` on broken code."""
    return digest(ast.dump(_Skeleton().visit(ast.parse(code))))


@dataclass(frozen=True, slots=True)
class Pool:
    """What is known already: ids by structural hash, and the nearest by embedding, nearest first.

    `semantic` is False for an embedder that only compares spelling; such nearness warns and never rejects.
    """

    by_structure: Mapping[str, str]
    nearest: Sequence[Recalled] = ()
    semantic: bool = True
    duplicate_cosine: float = 0.92


def pool_verdicts(env_id: str, structure: str, pool: Pool) -> tuple[Verdict, ...]:
    """The pool gates. A rejection names its neighbour, so that a person can look at both."""
    twin = pool.by_structure.get(structure, "")
    exact = twin == env_id
    near = pool.nearest[0] if pool.nearest else None
    alike = near is not None and near.similarity >= pool.duplicate_cosine
    refused = Status.FAIL if pool.semantic else Status.WARN
    return (
        Verdict(
            "pool.exact",
            Status.FAIL if exact else Status.PASS,
            f"This very program is in the pool already ({twin}). Design a different one." if exact else "",
            measured=twin if exact else None,
        ),
        Verdict(
            "pool.structural",
            Status.FAIL if twin and not exact else Status.PASS,
            f"Only names and texts differ from {twin}. Change the mechanism or its parameters." if twin else "",
            measured=twin or None,
        ),
        Verdict(
            "pool.meaning",
            refused if alike else Status.PASS,
            f"Too near to {near.env_id} in meaning. Make the task about something else." if near and alike else "",
            measured=round(near.similarity, 4) if near else None,
            threshold=pool.duplicate_cosine,
        ),
    )
