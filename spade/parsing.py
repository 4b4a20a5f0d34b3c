"""From a designer's raw reply to the one program in it, with every repair on record."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from spade.boxes import without_thoughts
from spade.braces import mend_braces

MAX_REPLY = 1_000_000
"""Characters. A longer reply is refused unread."""
MAX_BLOCKS = 64
"""Fence lines looked at, counted from the end of the reply."""

_FENCE = re.compile(r"^[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
_PYTHON = {"", "python", "python3", "py", "py3", "python2", "{python}", "{.python}"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply holds. `code` is empty when there is no program; `reason` then says why, for the designer.

    `repairs` names what was mended, in order. A block that holds an environment but cannot be parsed as Python is
    kept in `broken`, so that a repair prompt can show it.
    """

    code: str = ""
    repairs: tuple[str, ...] = ()
    reason: str = ""
    broken: str = ""


def parse_program(text: str) -> Parsed:
    """The last complete fenced Python block, outside thoughts, that defines a class whose name ends in Env."""
    if len(text) > MAX_REPLY:
        return Parsed(reason=f"The reply has {len(text)} characters, more than the {MAX_REPLY} allowed.")
    text = without_thoughts(text.replace("\r\n", "\n"))
    if not text.strip():
        return Parsed(reason="The reply is empty outside its thoughts. Write the program in one ```python block.")
    reasons: list[Parsed] = []
    for labelled in (True, False):
        for candidates in _blocks(text, labelled=labelled):
            found = _program(candidates)
            if found.code:
                return found
            reasons.append(found)
    return _explain(text, reasons)


def parse_tree(code: str) -> tuple[ast.Module | None, str]:
    """The syntax tree, or what is wrong with the text; never raises, whatever the text is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code), ""
    except SyntaxError as error:
        line = f" in line {error.lineno}" if error.lineno else ""
        return None, f"{error.msg}{line}"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return None, f"the text cannot be parsed ({type(error).__name__}: {error})"


def defines_environment(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name.endswith("Env") for node in tree.body)


def describe(code: str) -> tuple[str, str]:
    """Title and mechanic of a program: its class's name in words, and the first line of what it says of itself."""
    tree, _ = parse_tree(code)
    environment = next(
        (n for n in (tree.body if tree else []) if isinstance(n, ast.ClassDef) and n.name.endswith("Env")), None
    )
    if tree is None or environment is None:
        return "", ""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", environment.name.removesuffix("Env")).strip()
    about = (ast.get_docstring(environment) or ast.get_docstring(tree) or "").strip().split("\n")[0]
    return words[:80], about[:200]


def _blocks(text: str, *, labelled: bool) -> Iterator[list[str]]:
    """Fenced blocks from the last to the first; each as its possible texts, shortest first.

    A program may itself hold fence lines inside a string, so a block can end at any later fence of its own kind.
    """
    fences = list(_FENCE.finditer(text))[-MAX_BLOCKS:]
    for at in range(len(fences) - 1, -1, -1):
        opening = fences[at]
        info = opening["info"].strip().lower().split(" ")[0]
        if info not in _PYTHON or bool(info) is not labelled:
            continue
        closings = [
            fence
            for fence in fences[at + 1 :]
            if not fence["info"].strip()
            and fence["marks"][0] == opening["marks"][0]
            and len(fence["marks"]) >= len(opening["marks"])
        ]
        if closings:
            yield [_dedent(text[opening.end() + 1 : fence.start()]) for fence in closings[:8]]


def _program(candidates: list[str]) -> Parsed:
    """The first text that is a program, as it stands or mended; else why not."""
    for code in candidates:
        tree, _ = parse_tree(code)
        if tree is not None and defines_environment(tree):
            mended, repairs = mend_braces(code, tree)
            return Parsed(mended, repairs) if repairs and parse_tree(mended)[0] is not None else Parsed(code)
    for code in candidates:
        mended, repairs = mend_braces(code, None)
        tree, _ = parse_tree(mended) if repairs else (None, "")
        if tree is not None and defines_environment(tree):
            return Parsed(mended, repairs)
    code = candidates[0]
    tree, problem = parse_tree(code)
    if tree is not None:
        return Parsed(reason="The last Python block defines no class whose name ends in Env.")
    return Parsed(reason=f"The Python block does not parse: {problem}.", broken=code if "Env" in code else "")


def _explain(text: str, found: list[Parsed]) -> Parsed:
    broken = next((f for f in found if f.broken), None)
    if broken is not None:
        return broken
    if found:
        return found[0]
    infos = [fence["info"].strip().lower().split(" ")[0] for fence in _FENCE.finditer(text)]
    if len(infos) % 2 or any(info and info in _PYTHON for info in infos):
        return Parsed(
            reason="No complete Python block: the last fence is never closed (was the reply cut off?). "
            "Write a shorter program in one ```python block."
        )
    return Parsed(reason="The reply holds no fenced Python block. Write the program in one ```python block.")


def _dedent(block: str) -> str:
    """The block less the indentation of its first line, where the whole block is indented with it."""
    block = block.rstrip() + "\n"
    first = next((line for line in block.split("\n") if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip())]
    lines = block.split("\n")
    if margin and all(not line.strip() or line.startswith(margin) for line in lines):
        return "\n".join(line[len(margin) :] if line.strip() else line for line in lines)
    return block
