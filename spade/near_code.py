"""Is a program nearly another one? Runs of its tokens as a set, compared by exact Jaccard similarity."""

import re

RUN = 5
"""Tokens in a run: longer ones differ at every small change, shorter ones are shared by any two programs."""
_TOKEN = re.compile(
    r"""(?P<text>[rRbBfFuU]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<comment>\#[^\n]*)|\w+|[^\w\s]""",
    re.VERBOSE | re.DOTALL,
)


def runs(code: str) -> frozenset[str]:
    """All runs of `RUN` tokens; texts count as one empty text, comments and layout not at all.

    Any text has runs, whether it is Python or not; one of fewer tokens is a single run.
    """
    tokens = ['""' if m["text"] else m[0] for m in _TOKEN.finditer(code) if not m["comment"]]
    if len(tokens) < RUN:
        return frozenset([" ".join(tokens)])
    return frozenset(" ".join(tokens[i : i + RUN]) for i in range(len(tokens) - RUN + 1))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared runs as a share of all: 1 for equal sets, 0 for sets with nothing in common."""
    return len(one & other) / len(one | other)
