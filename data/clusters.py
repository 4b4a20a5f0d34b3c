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

    # the tree is cut at REACH here: `cluster_selection_epsilon` fails for some vectors with numpy 2.4, and a cluster
    # that it leaves whole may reach further
    tree = HDBSCAN(min_cluster_size=FEWEST, allow_single_cluster=True, copy=True).fit(vectors)
    clusters = tree.dbscan_clustering(REACH, FEWEST)
    if clusters[-1] < 0:
        return []
    near = vectors[:-1] @ vectors[-1]
    return [int(i) for i in np.argsort(-near) if clusters[i] == clusters[-1]]
