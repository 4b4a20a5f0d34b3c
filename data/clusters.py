"""Groups of environments that are alike in meaning (HDBSCAN of scikit-learn over unit vectors)."""

import numpy as np
import numpy.typing as npt

FEWEST = 5
"""Environments that make a cluster."""
REACH = 0.7
"""Distance of unit vectors, at a cosine of about 0.75, beyond which nothing is of one cluster."""


def cluster_of_last(vectors: npt.NDArray[np.float32]) -> list[int]:
    """Places of the vectors in the last one's cluster, nearest to it first and itself left out; empty for a loner.

    `vectors`: shape (n, dimension), rows of length 1.
    """
    if len(vectors) <= FEWEST:
        return []
    from sklearn.cluster import HDBSCAN

    clusters = HDBSCAN(
        min_cluster_size=FEWEST, cluster_selection_epsilon=REACH, allow_single_cluster=True, copy=True
    ).fit_predict(vectors)
    if clusters[-1] < 0:
        return []
    near = vectors[:-1] @ vectors[-1]
    return [int(i) for i in np.argsort(-near) if clusters[i] == clusters[-1]]
