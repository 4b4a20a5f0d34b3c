r"""Mends braces in f-strings: `f"answer with \boxed{x}"` prints `\boxed` and drops the braces, or does not compile.

Mended are the braces of a `\boxed{...}` or of JSON (`{"key": ...}`) that stand single, and, in a program that does not
parse, every brace that cannot be part of a replacement field. Everything else a designer wrote stays as it is.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spade.boxes import matching_braces

MAX_FIELD = 2000
"""Characters of a replacement field; a longer one is text."""
_NEXT = re.compile(r"#|(?<!\w)([rRbBuUfF]{1,2})?(\"\"\"|'''|\"|')")
"""A comment's start, or that of a text with its prefix."""
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
    match = _NEXT.search(code)
    while match is not None:
        if match[0] == "#":
            at = _line_end(code, match.end())
        else:
            end = _literal_end(code, match.end(), match[2])
            if "f" in (match[1] or "").lower():
                yield _Literal(match.end(), end)
            at = end + len(match[2])
        match = _NEXT.search(code, at)


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
    closings = matching_braces(content)
    doubled: set[int] = set()
    for match in _BOXED.finditer(content):
        opening = match.end() - 1
        if opening in closings:
            doubled |= {opening, closings[opening]}
    return "".join(letter * 2 if at in doubled else letter for at, letter in enumerate(content)) if doubled else content


def _mend_fields(content: str, *, strict: bool) -> str:
    """Double every brace that cannot belong to a replacement field; `strict` touches only JSON-like `{"key": ...}`."""
    closings = matching_braces(content)
    parts: list[str] = []
    at = 0
    while at < len(content):
        letter, closing = content[at], closings.get(at)
        if content.startswith(("{{", "}}"), at):
            parts.append(content[at : at + 2])
            at += 2
        elif letter == "{" and closing is not None:
            field = content[at : closing + 1]
            right = not _JSON.match(field[1:-1]) if strict else _is_field(field[1:-1])
            parts.append(field if right else "{{" + field[1:-1] + "}}" if strict else "{{")
            at = closing + 1 if right or strict else at + 1
        else:
            parts.append(letter * 2 if letter in "{}" and not strict else letter)
            at += 1
    return "".join(parts)


def _is_field(inner: str) -> bool:
    """Whether `{inner}` is a replacement field of an f-string."""
    if len(inner) > MAX_FIELD or _JSON.match(inner):
        return False
    quote = "'''" if '"' in inner or "\n" in inner else '"'
    try:
        tree = ast.parse(f"f{quote}{{{inner}}}{quote}", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(tree.body, ast.JoinedStr)
