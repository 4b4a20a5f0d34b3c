"""How many really different things there are among some: the Vendi score (Friedman and Dieng, arXiv 2210.02410)."""

from typing import Any

import numpy as np


def vendi(vectors: Any) -> float | None:
    """exp of the entropy of the eigenvalues of K/n, K the cosine similarities of `vectors` (n rows of one length).

    Between 1 (all alike) and n (nothing in common); None without vectors.
    """
    if not len(vectors):
        return None
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths == 0, 1.0, lengths)
    values = np.linalg.eigvalsh(rows @ rows.T / len(rows))
    values = values[values > 1e-12]
    return float(np.exp(-np.sum(values * np.log(values))))
