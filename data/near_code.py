"""Which remembered program is nearly this one: MinHash finds candidates, their exact Jaccard similarity decides."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from spade.diversity import Twin
from spade.near_code import jaccard, runs

if TYPE_CHECKING:
    from rensa import RMinHash, RMinHashLSH

HASHES, BANDS = 126, 21
"""Six hashes a band: of pairs that share 0.8 of their runs 99.8 % are candidates, of those that share 0.4 one in 12."""
SEED = 42


class NearCode:
    """An index over programs by id. It keeps hashes alone; `code_of` gives the program of a candidate."""

    def __init__(self, code_of: Callable[[str], str]) -> None:
        self._code_of = code_of
        self._ids: list[str] = []

    def add(self, env_id: str, code: str) -> None:
        self._index.insert(len(self._ids), _sketch(runs(code)))
        self._ids.append(env_id)

    def nearest(self, env_id: str, code: str) -> Twin | None:
        """The other program with the highest Jaccard similarity among the candidates; None without candidates."""
        own = runs(code)
        candidates = {self._ids[key] for key in self._index.query(_sketch(own))} - {env_id}
        measured = [Twin(other, jaccard(own, runs(self._code_of(other)))) for other in sorted(candidates)]
        return max(measured, key=lambda twin: twin.similarity, default=None)

    @cached_property
    def _index(self) -> "RMinHashLSH":
        from rensa import RMinHashLSH

        return RMinHashLSH(threshold=0.8, num_perm=HASHES, num_bands=BANDS)


def _sketch(of: frozenset[str]) -> "RMinHash":
    from rensa import RMinHash

    sketch = RMinHash(num_perm=HASHES, seed=SEED)
    sketch.update(sorted(of))
    return sketch
