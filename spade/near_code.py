"""Is a program nearly another one? Runs of its tokens as a set, compared by exact Jaccard similarity."""

import re

import numpy as np
import numpy.typing as npt

Marks = npt.NDArray[np.int64]
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


def marks(code: str) -> Marks:
    """Its runs as sorted hashes of 64 bits, good within one process: 8 bytes a run, where the texts take 150. Two runs
    of one hash would count as one: Python's hashes of texts differ from process to process, so none can be aimed at."""
    return np.unique(np.fromiter(map(hash, runs(code)), np.int64))


def jaccard(one: Marks, other: Marks) -> float:
    """Shared runs as a share of all: 1 for equal sets, 0 for sets with nothing in common."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)
