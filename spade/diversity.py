"""Is this environment new? Exact and structural duplicates; nearness in meaning is asked of the memory."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

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


@lru_cache(maxsize=64)  # asked for when a program is judged, and again when it is accepted
def structural_hash(code: str) -> str:
    """Equal for programs that differ in names, texts, comments and layout only. Raises `SyntaxError` on broken code."""
    return digest(ast.dump(_Skeleton().visit(ast.parse(code))))


@dataclass(frozen=True, slots=True)
class CodeMark:
    """What is compared of an accepted program's code, made once: its structural hash and its MinHash. `form` names the
    rules it was made by."""

    env_id: str
    structure: str
    sketch: tuple[int, ...]
    form: int


@dataclass(frozen=True, slots=True)
class Twin:
    """Another environment and how much of its code this one shares: exact Jaccard similarity of their token runs."""

    env_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Pool:
    """What is known already: ids by structural hash, the program with most code in common, the nearest by embedding,
    and the environments of this cycle that are of the candidate's cluster, nearest first.

    `semantic` is False for an embedder that only compares spelling; such nearness warns and never rejects. `templated`
    is True where programs are compiled from forms: their code is alike on purpose, so that it warns as well, and forms
    run out, so that only what this cycle has already (`cycles` by environment, `cycle_id`) may not come again.
    """

    by_structure: Mapping[str, str]
    nearest: Sequence[Recalled] = ()
    semantic: bool = True
    duplicate_cosine: float = 0.92
    warning_cosine: float = 0.85
    code: Twin | None = None
    duplicate_code: float = 0.8
    templated: bool = False
    cluster: Sequence[str] = ()
    cluster_most: int = 12
    cycles: Mapping[str, str] = field(default_factory=dict)
    cycle_id: str = ""


def pool_verdicts(env_id: str, structure: str, pool: Pool) -> tuple[Verdict, ...]:
    """The pool gates. A rejection names its neighbour, so that a person can look at both."""
    twin = pool.by_structure.get(structure, "")
    exact = twin == env_id
    bygone = pool.templated and pool.cycles.get(twin) != pool.cycle_id
    refused = Status.WARN if bygone else Status.FAIL
    return (
        Verdict(
            "pool.exact",
            Status.FAIL if exact else Status.PASS,
            f"This very program is in the pool already ({twin}). Design a different one." if exact else "",
            measured=twin if exact else None,
        ),
        Verdict(
            "pool.structural",
            refused if twin and not exact else Status.PASS,
            f"Only names and texts differ from {twin}. Change the mechanism or its parameters." if twin else "",
            measured=twin or None,
        ),
        _by_code(pool),
        _by_meaning(pool),
        _by_cluster(pool),
    )


def _by_code(pool: Pool) -> Verdict:
    twin, most = pool.code, pool.duplicate_code
    alike = twin is not None and twin.similarity >= most
    message = ""
    if twin and alike:
        message = f"{twin.similarity:.0%} of the code is that of {twin.env_id}. Write a game with another mechanism."
    refused = Status.WARN if pool.templated else Status.FAIL
    measured = round(twin.similarity, 4) if twin else None
    return Verdict("pool.code", refused if alike else Status.PASS, message, measured, most)


def _by_meaning(pool: Pool) -> Verdict:
    near = pool.nearest[0] if pool.nearest else None
    status, message = Status.PASS, ""
    if near and near.similarity >= pool.duplicate_cosine:
        status = Status.FAIL if pool.semantic else Status.WARN
        message = f"Too near to {near.env_id} in meaning. Make the task about something else."
    elif near and near.similarity >= pool.warning_cosine:
        status, message = Status.WARN, f"Close to {near.env_id} in meaning."
    measured = round(near.similarity, 4) if near else None
    return Verdict("pool.meaning", status, message, measured, pool.duplicate_cosine)


def _by_cluster(pool: Pool) -> Verdict:
    full = len(pool.cluster) >= pool.cluster_most
    refused = Status.FAIL if pool.semantic else Status.WARN
    message = ""
    if full:
        message = (
            f"This cycle has {len(pool.cluster)} environments of this kind already, the nearest {pool.cluster[0]}. "
            "Make one of another kind."
        )
    return Verdict("pool.cluster", refused if full else Status.PASS, message, len(pool.cluster), pool.cluster_most)
