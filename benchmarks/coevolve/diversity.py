"""How varied the latest designs are."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.coevolve.world import size_at


def kind(design: str) -> tuple[str, str]:
    """Mechanic and size of a design."""
    name, *values = design.split()
    return name, values[size_at(name)]


def choice_entropy(designs: Sequence[str]) -> float:
    """Entropy, in nats, of mechanic and size over designs."""
    counts = Counter(kind(text) for text in designs)
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values()) if total else 0.0


def vendi_share(designs: Sequence[str]) -> float:
    """Vendi score / n (arXiv 2210.02410): 1 when all differ, 1 / n when all are one. Similarity of two designs: 0 for
    different mechanics, else 0.4 and 0.6 times the share of equal knobs."""
    words = [text.split() for text in designs]
    n = len(words)
    if not n:
        return 0.0
    kernel = np.eye(n)
    for i in range(n):
        for j in range(i):
            if words[i][0] == words[j][0]:
                equal = sum(a == b for a, b in zip(words[i][1:], words[j][1:], strict=True)) / (len(words[i]) - 1)
                kernel[i, j] = kernel[j, i] = 0.4 + 0.6 * equal
    values = np.linalg.eigvalsh(kernel / n)
    values = values[values > 1e-12]
    return float(np.exp(-(values * np.log(values)).sum()) / n)
