"""Success that cannot fail, or cannot come: tests that are always true, and programs in which nothing pays."""

import ast
from collections.abc import Iterator

from spade.gates.source import Source, constant, walk
from spade.skills import Setting

_QUANTIFIERS = {"all": True, "any": False}


def vacuities(source: Source, setting: Setting) -> list[str]:
    """One message a finding, in line order."""
    found = [*_conditions(source), *_quantifiers(source)]
    messages = [message for _, message in sorted(found)]
    if setting is Setting.GAMES and not messages and not _something_pays(source):
        messages.append("No path of `step` can return a reward other than 0, so nobody can win.")
    return messages


def _conditions(source: Source) -> Iterator[tuple[int, str]]:
    tests: list[ast.If | ast.IfExp] = [*source.of(ast.If), *source.of(ast.IfExp)]
    for test in tests:
        value = _truth(test.test)
        if value is not None:
            yield test.lineno, f"Line {test.lineno}: this condition is always {value}."
    for comparison in source.of(ast.Compare):
        value = _comparison(comparison)
        if value is not None:
            yield comparison.lineno, f"Line {comparison.lineno}: this comparison is always {value}."


def _truth(test: ast.expr) -> bool | None:
    """The value a condition always has, or None."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [_truth(v) for v in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in values:
            return decisive
        return (not decisive) if all(v is (not decisive) for v in values) else None
    if isinstance(test, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return bool(test.elts if not isinstance(test, ast.Dict) else test.keys)
    value = constant(test)
    return None if value is ... else bool(value)


def _comparison(node: ast.Compare) -> bool | None:
    if len(node.ops) != 1:
        return None
    left, right = node.left, node.comparators[0]
    same = type(left) is type(right) and ast.dump(left) == ast.dump(right)
    equal, unequal = (ast.Eq, ast.Is, ast.LtE, ast.GtE), (ast.NotEq, ast.IsNot, ast.Lt, ast.Gt)
    pure = not any(isinstance(n, ast.Call) for n in walk(left))
    if same and pure:
        return True if isinstance(node.ops[0], equal) else False if isinstance(node.ops[0], unequal) else None
    if constant(left) is not ... and constant(right) is not ... and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return (constant(left) == constant(right)) == isinstance(node.ops[0], ast.Eq)
    if isinstance(node.ops[0], ast.In) and isinstance(left, ast.Constant) and left.value == "":
        return True if not isinstance(right, ast.List | ast.Tuple | ast.Set | ast.Dict) else None
    return None


def _quantifiers(source: Source) -> Iterator[tuple[int, str]]:
    """`all(...)` and `any(...)` over what is always empty."""
    calls = [n for n in source.of(ast.Call) if isinstance(n.func, ast.Name) and n.func.id in _QUANTIFIERS]
    empty = _always_empty(source) if calls else set()
    for node in calls:
        assert isinstance(node.func, ast.Name)
        over = node.args[0] if node.args else None
        if isinstance(over, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            over = over.generators[0].iter
        if _is_empty(over) or (isinstance(over, ast.Attribute) and _self_attribute(over) in empty):
            value = _QUANTIFIERS[node.func.id]
            yield (
                node.lineno,
                f"Line {node.lineno}: `{node.func.id}` over nothing is always {value}; the list is empty.",
            )


def _always_empty(source: Source) -> set[str]:
    """Attributes of self that only ever hold an empty collection and that nothing fills."""
    empty: set[str] = set()
    filled: set[str] = set()
    assigned = (*source.of(ast.Assign), *source.of(ast.AnnAssign), *source.of(ast.AugAssign))
    for node in assigned:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                name = _self_attribute(target)
                if name and node.value is not None:
                    (empty if _is_empty(node.value) else filled).add(name)
                filled |= {n for n in map(_self_attribute, walk(target)) if n and n != name}
        elif isinstance(node, ast.AugAssign):
            filled |= {n for n in map(_self_attribute, walk(node.target)) if n}
    reads = _escaping(source)
    return empty - filled - reads


def _escaping(source: Source) -> set[str]:
    """Attributes whose value is handed on or called upon, so that something may fill them."""
    found: set[str] = set()
    for node in (*source.of(ast.Attribute), *source.of(ast.Call), *source.of(ast.Assign)):
        if isinstance(node, ast.Attribute) and (name := _self_attribute(node.value)):
            found.add(name)
        elif isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in {"len", *_QUANTIFIERS}
        ):
            arguments = [*node.args, *(k.value for k in node.keywords)]
            found |= {n for n in map(_self_attribute, arguments) if n}
        elif isinstance(node, ast.Assign) and (name := _self_attribute(node.value)):
            found.add(name)
    return found


def _self_attribute(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return ""


def _is_empty(node: ast.AST | None) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"list", "dict", "set", "tuple", "frozenset"}
        and not node.args
        and not node.keywords
    )


def _something_pays(source: Source) -> bool:
    """Whether `step`, or what it may call, can return a reward that is not written as 0."""
    step = source.methods.get("step")
    if step is None:
        return True
    answers = [node.value for node in walk(step) if isinstance(node, ast.Return)]
    if not answers:
        return True
    return any(not _unpaid(answer, step) for answer in answers)


def _unpaid(answer: ast.expr | None, step: ast.AST) -> bool:
    return isinstance(answer, ast.Tuple) and len(answer.elts) == 5 and _is_zero(answer.elts[1], step)


def _is_zero(reward: ast.expr, step: ast.AST) -> bool:
    if isinstance(reward, ast.Name):
        values = [n.value for n in walk(step) if isinstance(n, ast.Assign) and _binds(n, reward.id)]
        augmented = any(isinstance(n, ast.AugAssign) and _root_is(n.target, reward.id) for n in walk(step))
        return bool(values) and not augmented and all(constant(v) == 0 for v in values)
    value = constant(reward)
    return value is not ... and value == 0


def _binds(node: ast.Assign, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for target in node.targets for n in walk(target))


def _root_is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
