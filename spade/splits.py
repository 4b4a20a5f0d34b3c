"""Splits by where rows come from, never by row: what belongs together is trained on or tested on as one."""

from collections.abc import Iterable, Mapping, Sequence

from spade.identity import rng_for


def clusters(links: Iterable[Sequence[str]]) -> dict[str, str]:
    """The cluster of each item, named by its least item: items that a chain of links connects are in one cluster.

    Each link lists items that belong together: documents behind one structure, environments alike in meaning.
    """
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for link in links:
        roots = sorted({root(item) for item in link})
        for other in roots[1:]:
            parent[other] = roots[0]
    return {item: root(item) for item in list(parent)}


def split_of(cluster: str, shares: Mapping[str, float], seed: int) -> str:
    """The split of a cluster: drawn by its name alone, so that a growing dataset never moves a row.

    `shares` by split name, in order, summing to 1.
    """
    place = rng_for(seed, "split", cluster).random()
    for name, share in shares.items():
        if place < share:
            return name
        place -= share
    return next(reversed(list(shares)))
