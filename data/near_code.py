"""Which remembered program is nearly this one: MinHash finds candidates, their exact Jaccard similarity decides."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest

from spade.diversity import Twin
from spade.near_code import Marks, jaccard, marks, runs

HASHES, BAND = 126, 6
"""Hashes of a sketch, and of one band: of pairs that share 0.8 of their runs 99.8 % have a band in common and are
candidates, of those that share 0.4 one in 12."""
SEED = 42
CANDIDATES = 16
"""Programs that are compared exactly: those that share most bands. Where more share as many, those are twins too."""
KEPT = 256
"""Programs whose marks stay at hand, some 5 KB each."""


class NearCode:
    """An index over programs by id. It keeps hashes of sketches, and the marks of the programs compared last;
    `codes_of` gives the programs of candidates, those that there are."""

    def __init__(self, codes_of: Callable[[Sequence[str]], Mapping[str, str]]) -> None:
        self._codes_of = codes_of
        self._bands: dict[int, list[str]] = defaultdict(list)
        self._marks: OrderedDict[str, Marks] = OrderedDict()

    def add(self, env_id: str, sketch: Sequence[int], code: str = "") -> None:
        """A program of the pool; with its `code` where that is not stored yet."""
        if code:
            self._keep({env_id: marks(code)})
        for band in _bands(sketch):
            self._bands[band].append(env_id)

    def nearest(self, env_id: str, code: str) -> Twin | None:
        """The other program with the highest Jaccard similarity among the candidates; None without candidates."""
        own = marks(code)
        shared = Counter(other for band in _bands(sketch_of(code)) for other in self._bands.get(band, ()))
        del shared[env_id]
        candidates = nsmallest(CANDIDATES, shared, key=lambda other: (-shared[other], other))
        measured = [Twin(other, jaccard(own, theirs)) for other, theirs in self._marks_of(candidates).items()]
        return max(measured, key=lambda twin: twin.similarity, default=None)

    def _marks_of(self, env_ids: Sequence[str]) -> dict[str, Marks]:
        missing = [env_id for env_id in env_ids if env_id not in self._marks]
        found = {env_id: self._marks[env_id] for env_id in env_ids if env_id in self._marks}
        if missing:
            found |= {env_id: marks(code) for env_id, code in self._codes_of(missing).items()}
        self._keep(found)
        return found

    def _keep(self, found: Mapping[str, Marks]) -> None:
        for env_id, theirs in found.items():
            self._marks[env_id] = theirs
            self._marks.move_to_end(env_id)
        while len(self._marks) > KEPT:
            self._marks.popitem(last=False)


def sketch_of(code: str) -> tuple[int, ...]:
    """The MinHash of a program's runs: `HASHES` numbers of 32 bits, the same everywhere."""
    from rensa import RMinHash

    sketch = RMinHash(num_perm=HASHES, seed=SEED)
    sketch.update(sorted(runs(code)))
    return tuple(sketch.digest())


def _bands(sketch: Sequence[int]) -> list[int]:
    return [hash((start, *sketch[start : start + BAND])) for start in range(0, HASHES, BAND)]
