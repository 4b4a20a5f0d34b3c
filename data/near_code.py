"""Which remembered program is nearly this one: MinHash finds candidates, their exact Jaccard similarity decides."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from spade.diversity import Twin
from spade.near_code import jaccard, runs

HASHES, BAND = 126, 6
"""Hashes of a sketch, and of one band: of pairs that share 0.8 of their runs 99.8 % have a band in common and are
candidates, of those that share 0.4 one in 12."""
SEED = 42


class NearCode:
    """An index over programs by id. It keeps hashes of sketches alone; `code_of` gives the program of a candidate."""

    def __init__(self, code_of: Callable[[str], str]) -> None:
        self._code_of = code_of
        self._bands: dict[int, list[str]] = defaultdict(list)

    def add(self, env_id: str, sketch: Sequence[int]) -> None:
        for band in _bands(sketch):
            self._bands[band].append(env_id)

    def nearest(self, env_id: str, code: str) -> Twin | None:
        """The other program with the highest Jaccard similarity among the candidates; None without candidates."""
        own = runs(code)
        bands = _bands(sketch_of(code))
        candidates = {other for band in bands for other in self._bands.get(band, ())} - {env_id}
        measured = [Twin(other, jaccard(own, runs(self._code_of(other)))) for other in sorted(candidates)]
        return max(measured, key=lambda twin: twin.similarity, default=None)


def sketch_of(code: str) -> tuple[int, ...]:
    """The MinHash of a program's runs: `HASHES` numbers of 32 bits, the same everywhere."""
    from rensa import RMinHash

    sketch = RMinHash(num_perm=HASHES, seed=SEED)
    sketch.update(sorted(runs(code)))
    return tuple(sketch.digest())


def _bands(sketch: Sequence[int]) -> list[int]:
    return [hash((start, *sketch[start : start + BAND])) for start in range(0, HASHES, BAND)]
