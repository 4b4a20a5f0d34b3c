"""Load one program: its imports and builtins, its one class, and words for what it raised."""

import builtins
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from .controls import as_module
from .frames import MAX_DETAIL
from .tool_env import ToolEnv

FILENAME = "<environment>"
MODULE = "environment"
REFUSED_BUILTINS = ("open", "exec", "eval", "compile", "input", "breakpoint", "exit", "quit", "help")


class Violation(Exception):
    """The program did something that the contract does not allow; the text says what."""


def guarded_import(allowed: frozenset[str]) -> Callable[..., ModuleType]:
    """`__import__` for the program alone; what it imports may import what it needs."""
    real = builtins.__import__

    def import_allowed(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Iterable[str] = (),
        level: int = 0,
    ) -> ModuleType:
        if level or name.partition(".")[0] not in allowed:
            raise ImportError(f"an environment may not import {name!r}; allowed are {', '.join(sorted(allowed))}")
        return real(name, globals, locals, tuple(fromlist or ()), level)

    return import_allowed


def refused_builtin(name: str) -> Callable[..., None]:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(f"an environment may not call {name}()")

    return refuse


def builtins_for(allowed: frozenset[str]) -> dict[str, Any]:
    """What the program sees as its builtins. A hint to honest programs; the kernel is what holds the others."""
    names = dict(vars(builtins))
    names |= {name: refused_builtin(name) for name in REFUSED_BUILTINS}
    return names | {"__import__": guarded_import(allowed)}


def load(source: str, builtin_names: dict[str, Any] | None) -> Any:
    """Run the program's text and make its environment. Raises `Violation`, or whatever the program raises.

    `builtin_names` None leaves imports and builtins as they are: for programs of ours that look for holes.
    """
    module = as_module(MODULE)
    names = vars(module)
    names["ToolEnv"] = ToolEnv
    if builtin_names is not None:
        names["__builtins__"] = builtin_names
    exec(compile(source, FILENAME, "exec", dont_inherit=True), names)  # noqa: S102
    return environment_class(names)()


def environment_class(names: dict[str, Any]) -> type:
    """The one class of the program whose name ends in `Env`."""
    found = {
        value.__name__: value
        for value in names.values()
        if isinstance(value, type) and value.__module__ == MODULE and value.__name__.endswith("Env")
    }
    if len(found) != 1:
        which = ", ".join(sorted(found)) or "none"
        raise Violation(f"the program must define exactly one class whose name ends in Env; found {which}")
    return next(iter(found.values()))


def explain(error: BaseException, source: str) -> str:
    """Type, message, and the line of the program that raised, in one line of text."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001
        message = "(its message cannot be shown)"
    number = line_number(error)
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    if number is not None:
        lines = source.splitlines()
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        text = f"{text[: MAX_DETAIL - 300]} (line {number}: {line[:200]})"
    return text[:MAX_DETAIL]


def line_number(error: BaseException) -> int | None:
    """The line of the program nearest to where the error was raised."""
    if isinstance(error, SyntaxError) and error.filename == FILENAME:
        return error.lineno
    number, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            number = trace.tb_lineno
        trace = trace.tb_next
    return number


def quiet() -> None:
    """Programs may print; nobody listens."""
    sys.stdout = sys.stderr = Nowhere()
    sys.stdin = None


class Nowhere:
    """A text stream that forgets."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        return None

    def isatty(self) -> bool:
        return False
