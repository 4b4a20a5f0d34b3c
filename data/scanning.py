"""The scan for secrets and personal data over many texts: a fast look at all of them, a close one at the suspicious."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from spade.scanning import SUSPICIOUS, Finding, scan

T = TypeVar("T")
AT_ONCE = 1_000


def scanned(texts: Sequence[str]) -> list[tuple[Finding, ...]]:
    """The findings of each text."""
    marks = pc.match_substring_regex(pa.array(texts, pa.string()), SUSPICIOUS).to_pylist()
    return [scan(text) if mark else () for text, mark in zip(texts, marks, strict=True)]


def batched(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
