"""What is in the pool already, as the pool gates ask: structure, code, meaning, and what was accepted of late."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from data.catalog import Catalog
from data.clusters import cluster_of_last
from data.embedding import Vectors
from data.memory import VectorMemory, description
from data.near_code import NearCode, sketch_of
from data.tables import CODE_MARKS
from spade.diversity import CodeMark, Pool, structural_hash
from spade.environments import Environment
from spade.ports import Recalled
from spade.settings import MemorySettings

WINDOW = 200
"""Latest accepted environments over which the Vendi score and clusters are taken (docs/method.md)."""


FORM = 1
"""Of marks: another way to hash structure or runs is another form."""


@dataclass(frozen=True, slots=True)
class Latest:
    """An accepted environment of the window, with the cycle it was designed in and its vector of length 1."""

    env_id: str
    cycle_id: str
    vector: Vectors


class Known:
    """All accepted environments of a home. Not a record: a run adds to it as it accepts."""

    def __init__(self, memory: VectorMemory, catalog: Catalog) -> None:
        self.structures: dict[str, str] = {}
        self.cycles: dict[str, str] = {}
        """The cycle of each environment."""
        self._memory, self._catalog = memory, catalog
        self._code = NearCode(self._codes_of)
        self._latest: deque[Latest] = deque(maxlen=WINDOW)

    @classmethod
    def load(cls, memory: VectorMemory, catalog: Catalog) -> Self:
        """As far as any process has come. An environment whose attempt was not stored any more is not among them."""
        known = cls(memory, catalog)
        cycles = {row["env_id"]: row["cycle_id"] for row in catalog.query(_ACCEPTED)}
        known.cycles |= cycles
        for mark in _marks(catalog, list(cycles)):
            known._index(mark)
        newest = list(cycles)[-WINDOW:]
        texts = {e.env_id: description(e) for e in catalog.environments(env_id=newest)}
        vectors = memory.vectors(texts)
        known._latest.extend(Latest(env_id, cycles[env_id], vectors[env_id]) for env_id in newest if env_id in texts)
        return known

    async def add(self, environment: Environment, cycle_id: str) -> None:
        """An environment was accepted. Known at once, so that a twin of another slot meets it; then stored."""
        mark = _mark(environment)
        self._index(mark, environment.code)
        self.cycles[environment.env_id] = cycle_id
        self._latest.append(Latest(environment.env_id, cycle_id, self._vector(environment)))
        await asyncio.to_thread(self._catalog.append, "code_marks", [mark])

    def pool(self, environment: Environment, cycle_id: str, settings: MemorySettings, slots: int) -> Pool:
        """What the pool gates need to know to judge a candidate for a cycle of `slots` environments."""
        vector = self._vector(environment)
        return Pool(
            self.structures,
            cycles=self.cycles,
            cycle_id=cycle_id,
            code=self._code.nearest(environment.env_id, environment.code),
            nearest=self._nearest(environment.env_id, vector),
            cluster=tuple(self._alike(vector, cycle_id)),
            semantic=self._memory.semantic,
            duplicate_code=settings.duplicate_code,
            duplicate_cosine=settings.duplicate_cosine,
            warning_cosine=settings.warning_cosine,
            cluster_most=max(1, int(settings.cluster_share * slots)),
        )

    def window(self) -> Sequence[Vectors]:
        """Vectors of the latest accepted environments."""
        return [latest.vector for latest in self._latest]

    def _index(self, mark: CodeMark, code: str = "") -> None:
        self.structures[mark.structure] = mark.env_id
        self._code.add(mark.env_id, mark.sketch, code)

    def _vector(self, environment: Environment) -> Vectors:
        vector: Vectors = self._memory.embedder.embed([description(environment)])[0]
        return vector

    def _nearest(self, env_id: str, vector: Vectors) -> list[Recalled]:
        """Of the remembered ones and of those accepted since, which are not scored yet."""
        near = self._memory.nearest_to(vector, 2)
        near += [Recalled(x.env_id, float(x.vector @ vector), {}) for x in self._latest]
        others = [r for r in near if r.env_id != env_id]
        return sorted(others, key=lambda r: (-r.similarity, r.env_id))[:1]

    def _alike(self, vector: Vectors, cycle_id: str) -> Iterator[str]:
        """Environments of the cycle that are of the candidate's cluster, nearest first."""
        held = list(self._latest)
        vectors = np.stack([*(x.vector for x in held), vector]) if held else np.empty((0, 0), np.float32)
        return (held[i].env_id for i in cluster_of_last(vectors) if held[i].cycle_id == cycle_id)

    def _codes_of(self, env_ids: Sequence[str]) -> dict[str, str]:
        return {e.env_id: e.code for e in self._catalog.environments(env_id=list(env_ids))}


def _mark(environment: Environment) -> CodeMark:
    code = environment.code
    return CodeMark(environment.env_id, structural_hash(code), sketch_of(code), FORM)


def _marks(catalog: Catalog, env_ids: Sequence[str]) -> list[CodeMark]:
    """Those stored, and those of programs that have none yet: of another form, or killed before it was stored."""
    stored = {mark.env_id: mark for mark in catalog.read(CODE_MARKS, form=FORM)}
    missing = [env_id for env_id in env_ids if env_id not in stored]
    made = [_mark(e) for e in catalog.environments(env_id=missing)] if missing else []
    catalog.append("code_marks", made)
    return [*(stored[env_id] for env_id in env_ids if env_id in stored), *made]


_ACCEPTED = """
    select a.env_id, max_by(s.cycle_id, c.number) as cycle_id, max(c.number) as number, min(s."index") as place
    from attempts a join slots s using (slot_id) join cycles c using (cycle_id)
    where a.accepted group by a.env_id order by number, place, a.env_id"""
