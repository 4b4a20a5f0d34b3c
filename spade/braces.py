r"""Mends braces in f-strings: `f"answer with \boxed{x}"` prints `\boxed` and drops the braces, or does not compile.

Mended are the braces of a `\boxed{...}` or of JSON (`{"key": ...}`) that stand single, and, in a program that does not
parse, every brace that cannot be part of a replacement field. Everything else a designer wrote stays as it is.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = re.compile(r"(?<![\w])([rRbBuUfF]{1,2})?(\"\"\"|'''|\"|')")
_JSON = re.compile(r"""\s*(?:"[^"]*"|'[^']*')(?:\s*:\s+[\["'{\w]|\s*:[\["'{])""")
_BOXED = re.compile(r"\\?\\boxed\{(?!\{)")


@dataclass(frozen=True, slots=True)
class _Literal:
    """One f-string in the source: where its content starts and ends."""

    start: int
    end: int


def mend_braces(code: str, tree: ast.Module | None) -> tuple[str, tuple[str, ...]]:
    """The mended source and one note a mended line. `tree` is None when the source does not parse as it stands."""
    edits: list[tuple[int, int, str]] = []
    notes: list[str] = []
    for literal in _f_strings(code):
        content = code[literal.start : literal.end]
        mended = _mend_fields(_mend_boxes(content), strict=tree is not None)
        if mended != content:
            edits.append((literal.start, literal.end, mended))
            notes.append(f"f-string braces doubled in line {code.count(chr(10), 0, literal.start) + 1}")
    for start, end, mended in reversed(edits):
        code = code[:start] + mended + code[end:]
    return code, tuple(notes)


def _f_strings(code: str) -> Iterator[_Literal]:
    at = 0
    while at < len(code):
        if code[at] == "#":
            at = _line_end(code, at)
            continue
        match = _PREFIX.match(code, at)
        if match is None:
            at += 1
            continue
        end = _literal_end(code, match.end(), match[2])
        if "f" in (match[1] or "").lower():
            yield _Literal(match.end(), end)
        at = end + len(match[2])


def _literal_end(code: str, at: int, quote: str) -> int:
    while at < len(code):
        if code[at] == "\\":
            at += 2
        elif code.startswith(quote, at) or (code[at] == "\n" and len(quote) == 1):
            return at
        else:
            at += 1
    return len(code)


def _line_end(code: str, at: int) -> int:
    end = code.find("\n", at)
    return len(code) if end < 0 else end


def _mend_boxes(content: str) -> str:
    r"""Double the braces of each single-braced `\boxed{...}`."""
    at = 0
    while match := _BOXED.search(content, at):
        opening = match.end() - 1
        closing = _closing(content, opening)
        if closing is None:
            at = match.end()
            continue
        inner = content[opening + 1 : closing]
        content = f"{content[:opening]}{{{{{inner}}}}}{content[closing + 1 :]}"
        at = opening + 2
    return content


def _closing(content: str, opening: int) -> int | None:
    depth = 0
    for at in range(opening, len(content)):
        depth += (content[at] == "{") - (content[at] == "}")
        if depth == 0:
            return at
    return None


def _mend_fields(content: str, *, strict: bool) -> str:
    """Double every brace that cannot belong to a replacement field; `strict` touches only JSON-like `{"key": ...}`."""
    parts: list[str] = []
    at = 0
    while at < len(content):
        letter = content[at]
        if content.startswith(("{{", "}}"), at):
            parts.append(content[at : at + 2])
            at += 2
        elif letter == "{":
            closing = _closing(content, at)
            inner = content[at + 1 : closing] if closing is not None else ""
            if closing is not None and ((strict and not _JSON.match(inner)) or (not strict and _is_field(inner))):
                parts.append(content[at : closing + 1])
                at = closing + 1
            elif closing is not None and strict:
                parts.append("{{" + inner + "}}")
                at = closing + 1
            else:
                parts.append("{{")
                at += 1
        elif letter == "}":
            parts.append("}" if strict else "}}")
            at += 1
        else:
            parts.append(letter)
            at += 1
    return "".join(parts)


def _is_field(inner: str) -> bool:
    """Whether `{inner}` is a replacement field of an f-string."""
    if _JSON.match(inner):
        return False
    quote = "'''" if '"' in inner or "\n" in inner else '"'
    try:
        tree = ast.parse(f"f{quote}{{{inner}}}{quote}", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(tree.body, ast.JoinedStr)
