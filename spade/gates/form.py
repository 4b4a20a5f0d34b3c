"""Level 0: what the text alone tells. No program runs for these gates."""

import ast
import re

from spade.gates.facts import MAX_TURNS, MIN_TURNS
from spade.gates.names import undefined_names
from spade.gates.purity import impurities
from spade.gates.source import Function, Source, walk
from spade.gates.vacuity import vacuities
from spade.gates.verdicting import failed, passed, warned
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Verdict

SHOWN = 5
_SURROGATE = re.compile("[\ud800-\udfff]")


def form_parse(source: Source, _: Setting, __: GateSettings) -> Verdict:
    if source.tree is None:
        return failed("form.parse", f"The program does not parse as Python 3.11: {source.problem}.", source.problem)
    return passed("form.parse")


def form_contract(source: Source, setting: Setting, settings: GateSettings) -> Verdict:
    problem = _contract_problem(source, setting, settings)
    if problem:
        return failed("form.contract", problem, problem)
    return passed("form.contract", source.environments[0].name)


def form_imports(source: Source, _: Setting, __: GateSettings) -> Verdict:
    """Nothing from outside the allowed modules, no way around them, no state beyond the object."""
    found = impurities(source)
    errors = [i.message for i in found if i.severe]
    if errors:
        return failed("form.imports", _listing(errors), errors[:SHOWN], [])
    if found:
        return warned("form.imports", _listing([i.message for i in found]), [i.message for i in found][:SHOWN])
    return passed("form.imports", [], [])


def form_names(source: Source, setting: Setting, __: GateSettings) -> Verdict:
    injected = {"ToolEnv"} if setting is Setting.TOOLS else set()
    missing = undefined_names(source, injected)
    if missing:
        what = ", ".join(f"`{name}` (line {line})" for name, line in missing[:SHOWN])
        message = f"These names are used but defined nowhere: {what}. Define or import them."
        return failed("form.names", message, [name for name, _ in missing], [])
    return passed("form.names", [], [])


def form_vacuous(source: Source, setting: Setting, __: GateSettings) -> Verdict:
    found = vacuities(source, setting)
    if found:
        return failed("form.vacuous", _listing(found), found[:SHOWN], [])
    return passed("form.vacuous", [], [])


FORM_GATES = (form_parse, form_contract, form_imports, form_names, form_vacuous)
"""In order; each assumes that those before it passed."""


def _listing(problems: list[str]) -> str:
    more = f" ({len(problems) - SHOWN} more.)" if len(problems) > SHOWN else ""
    return " ".join(problems[:SHOWN]) + more


def _contract_problem(source: Source, setting: Setting, settings: GateSettings) -> str:
    size = len(source.code.encode("utf-8", "surrogatepass"))
    if size > settings.max_program_bytes:
        return f"The program has {size} bytes, more than the {settings.max_program_bytes} allowed. Write less."
    if "\0" in source.code or _SURROGATE.search(source.code):
        return "The program holds NUL or surrogate characters. Write plain UTF-8 text."
    names = [node.name for node in source.environments]
    if len(names) != 1:
        have = ", ".join(names) or "none"
        return f"Define exactly one public class whose name ends in Env; found: {have}."
    if setting is Setting.TOOLS and not _inherits_tool_env(source):
        return f"A tool-use environment subclasses the given ToolEnv: write `class {names[0]}(ToolEnv):`."
    if setting is Setting.TOOLS:
        own = [name for name in _GIVEN if name in source.methods]
        if own:
            return f"ToolEnv provides `{own[0]}`; leave it alone and define setup, solution and the tools."
        return _signature_problem(source, ("setup", "solution")) or _cap_problem(source)
    return _signature_problem(source, ("__init__", "reset", "step", "solution")) or _cap_problem(source)


def _inherits_tool_env(source: Source) -> bool:
    return any(isinstance(b, ast.Name) and b.id == "ToolEnv" for b in source.environments[0].bases)


_GIVEN = ("__init__", "reset", "step", "parts", "finished", "declined", "results", "holds", "advance", "perform")
"""What `ToolEnv` does itself: who pays and when is not for the program to say."""
_SHAPES = {
    "__init__": ("__init__(self, max_turns=12)", (), "max_turns"),
    "reset": ("reset(self, seed=None)", (), "seed"),
    "step": ("step(self, action)", ("action",), ""),
    "solution": ("solution(self)", (), ""),
    "setup": ("setup(self, rng)", ("rng",), ""),
}
"""Per method: how to write it, its required parameters after `self`, and the optional one it must take."""


def _signature_problem(source: Source, required: tuple[str, ...]) -> str:
    for name in required:
        shape, positional, optional = _SHAPES[name]
        method = source.methods.get(name)
        if method is None:
            return f"The class has no method `{name}`. Write `def {shape}`."
        problem = _shape_problem(method, positional, optional)
        if problem:
            return f"`{name}` {problem}. Write `def {shape}`."
    return ""


def _shape_problem(method: Function, positional: tuple[str, ...], optional: str) -> str:
    if isinstance(method, ast.AsyncFunctionDef):
        return "must not be async"
    if method.decorator_list:
        return "must be a plain method without decorators"
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk(method))
    if yields and any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(method)):
        return "must return a value, not yield"
    arguments = method.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    needed = names[1 : len(names) - len(arguments.defaults)] if len(names) > len(arguments.defaults) else []
    if not names:
        return "takes no `self`"
    if len(needed) != len(positional):
        return f"takes {len(needed)} required arguments besides self instead of {len(positional)}"
    if any(default is None for default in arguments.kw_defaults):
        return "has a keyword-only argument without a default"
    optionals = {*names[1 + len(needed) :], *(a.arg for a in arguments.kwonlyargs)}
    if optional and optional not in optionals:
        return f"must take `{optional}` with a default"
    return ""


def _own_nodes(method: Function) -> list[ast.AST]:
    """The nodes of a function less those of functions inside it."""
    found: list[ast.AST] = []
    queue: list[ast.AST] = list(method.body)
    while queue:
        node = queue.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            queue += ast.iter_child_nodes(node)
    return found


def _cap_problem(source: Source) -> str:
    cap = source.max_turns
    if cap is None:
        return "The default of `max_turns` must be a whole number written down, such as `max_turns = 12`."
    if not MIN_TURNS <= cap <= MAX_TURNS:
        return f"The default of `max_turns` is {cap}; it must lie in {MIN_TURNS}..{MAX_TURNS}."
    return ""
