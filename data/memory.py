"""Scored environments, findable by meaning: LanceDB tables that several processes read and write at once."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from functools import cached_property
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from data.blemishes import mended
from data.embedding import Embedder, Vectors, open_embedder
from data.remote import lance_place
from data.writing import folder_made
from spade.environments import Environment
from spade.errors import Abort, Skip, boundary
from spade.hints import Hint
from spade.identity import canonical
from spade.messages import Guide
from spade.operating_settings import StoreSettings
from spade.ports import Recalled
from spade.recall import Remembered
from spade.scores import Score
from spade.settings import MemorySettings
from spade.skills import Setting, Skill

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

INDEX_ABOVE = 5_000
"""Rows from which an approximate index is faster than looking at every vector."""
PROBES = 40
"""Clusters of the index that a search looks into: of the ten nearest of 100,000 texts made up at random, which
lie nowhere near each other, about nine are found (benchmarks/memory.py)."""
REFINED = 2
"""So many times the rows asked for are compared by their whole vectors, so that similarities are exact."""
FORMAT = 1
"""Part of the tables' names: another form of rows is another table."""
_COLUMNS = ("skill", "title", "mechanic", "win_rate", "regret")
_EVERYTHING = 2**31 - 1
QUOTE = "'"


class VectorMemory:
    """One table per embedder and dimension under `home`/memory, or in the `store`. One row an environment: its latest
    score."""

    def __init__(self, home: Path, embedder: Embedder, store: StoreSettings | None = None) -> None:
        self.embedder = embedder
        self._home, self._store = Path(home), store

    def __reduce__(self) -> tuple[type["VectorMemory"], tuple[Path, Embedder, StoreSettings | None]]:
        return VectorMemory, (self._home, self.embedder, self._store)

    @property
    def semantic(self) -> bool:
        return self.embedder.semantic

    def describe(self) -> str:
        """One sentence for people: which embedder, how many environments."""
        return f"{self._table.count_rows()} environments; {self.embedder.describe()}"

    def add(self, env_id: str, text: str, payload: Mapping[str, Any]) -> None:
        """Remember an environment, or what is new about it. `payload` holds JSON values."""
        self.add_all([(env_id, text, payload)])

    def add_all(self, items: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """`add` for many at once: (id, text, payload)."""
        vectors = self.embedder.embed([text for _, text, _ in items])
        rows = [
            {
                "env_id": env_id,
                **{name: payload.get(name) for name in _COLUMNS},
                "order": time.time_ns(),
                "payload": canonical(dict(payload)),
                "vector": vector,
            }
            for (env_id, _, payload), vector in zip(items, vectors, strict=True)
        ]
        with boundary(Abort, "cannot write the memory", f"Check the folder {self._home / 'memory'}."):
            upsert = self._table.merge_insert("env_id").when_matched_update_all().when_not_matched_insert_all()
            with self._writing():
                upsert.execute(self._rows(rows))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time: two that insert the same new key at once would both find it missing. The lock goes
        with the process, however it ends."""
        import fcntl

        with open(self._home / "memory" / ".lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def nearest(self, text: str, count: int) -> list[Recalled]:
        """The `count` nearest by cosine similarity, nearest first, each environment once."""
        return self.nearest_to(self.embedder.embed([text])[0], count)

    def nearest_to(self, vector: Vectors, count: int) -> list[Recalled]:
        """`nearest` of a text whose vector is known."""
        search: Any = self._table.search(vector, vector_column_name="vector")
        found = (
            search.distance_type("cosine")
            .nprobes(PROBES)
            .refine_factor(REFINED)
            .select(["env_id", "payload", "_distance"])
            .limit(count)
            .to_list()
        )
        return [Recalled(r["env_id"], 1.0 - float(r["_distance"]), json.loads(r["payload"])) for r in found]

    def vectors(self, texts: Mapping[str, str]) -> dict[str, Vectors]:
        """The vector of each id: the stored one where it is remembered, else that of its text."""
        rows: list[dict[str, Any]] = []
        if texts:
            ids = ", ".join(f"'{env_id.replace(QUOTE, 2 * QUOTE)}'" for env_id in texts)
            search = self._table.search().where(f"env_id in ({ids})").select(["env_id", "vector"])
            rows = search.limit(_EVERYTHING).to_arrow().to_pylist()
        found = {row["env_id"]: np.asarray(row["vector"], np.float32) for row in rows}
        missing = [env_id for env_id in texts if env_id not in found]
        if missing:
            found |= dict(zip(missing, self.embedder.embed([texts[m] for m in missing]), strict=True))
        return found

    def remember(self, environment: Environment, hint: Hint | None, scored: Score) -> None:
        """Add an environment with its hint and its score."""
        whole, _ = mended(environment)
        payload = {
            "skill": whole.skill,
            "title": whole.title,
            "mechanic": whole.mechanic,
            "environment": asdict(whole),
            "hint": hint.text if hint else "",
            "cycle_id": scored.cycle_id,
            "win_rate": scored.plain.win_rate,
            "mean_return": scored.plain.mean_return,
            "regret": scored.regret,
            "designer_reward": scored.designer_reward,
        }
        self.add(environment.env_id, description(whole), payload)

    def of_skill(self, skill: Skill) -> list[Remembered]:
        """All environments of a skill in short, oldest first."""
        search = self._table.search().where(f"skill = '{Skill(skill).value}'")
        rows = search.select(["env_id", *_COLUMNS, "order"]).limit(_EVERYTHING).to_arrow().to_pylist()
        known = [Remembered(**{k: v for k, v in row.items() if k != "skill"}) for row in rows]
        return sorted(known, key=lambda r: (r.order, r.env_id))

    def environment(self, env_id: str) -> Environment:
        """A whole environment that `remember` was given. Raises `Skip` when there is none."""
        quoted = env_id.replace(QUOTE, 2 * QUOTE)
        rows = self._table.search().where(f"env_id = '{quoted}'").select(["payload"]).limit(1).to_list()
        if not rows:
            raise Skip(f"the memory has no environment {env_id}.")
        return _environment(json.loads(rows[0]["payload"])["environment"])

    def optimise(self, index_above: int = INDEX_ABOVE) -> None:
        """Merge small files and, in a large memory, build the search index: seconds. One process at a time.

        The index keeps vectors of 8 bits a dimension in clusters, of which a search looks into the nearest; rows added
        since are searched one by one.
        """
        self._table.optimize(cleanup_older_than=timedelta(hours=1))
        rows = self._table.count_rows()
        if rows > index_above:
            from lancedb.index import IvfSq

            config = IvfSq(distance_type="cosine", num_partitions=isqrt(rows))
            self._table.create_index("vector", config=config, replace=True)

    @cached_property
    def _table(self) -> "lancedb.table.Table":
        import lancedb

        folder = self._home / "memory"
        folder_made(folder)
        name = f"environments_{FORMAT}_{self.embedder.name}_{self.embedder.dimension}"
        place, options, remedy = str(folder), dict[str, str](), f"Check the folder {folder}."
        if self._store and self._store.url:
            place, options = lance_place(self._store)
            remedy = "Mend store.url, store.endpoint, the keys in the environment, or the network."
        with boundary(Abort, f"cannot open the memory in {place}", remedy):
            database = lancedb.connect(place, read_consistency_interval=timedelta(0), storage_options=options or None)
            return database.create_table(name, schema=self._schema, exist_ok=True)

    @property
    def _schema(self) -> "pa.Schema":
        import pyarrow as pa

        fields: list[Any] = [
            *(pa.field(name, pa.string()) for name in ("env_id", "skill", "title", "mechanic", "payload")),
            *(pa.field(name, pa.float64()) for name in ("win_rate", "regret")),
            pa.field("order", pa.int64()),
            pa.field("vector", pa.list_(pa.float32(), self.embedder.dimension)),
        ]
        return pa.schema(fields)

    def _rows(self, rows: list[dict[str, Any]]) -> "pa.Table":
        import pyarrow as pa

        return pa.Table.from_pylist(rows, schema=self._schema)


def open_memory(settings: MemorySettings, home: Path, store: StoreSettings | None = None) -> VectorMemory:
    """The memory of a run. Raises `Abort` when the embedder that was asked for is not installed."""
    return VectorMemory(home, open_embedder(settings.embedder), store)


def description(environment: Environment) -> str:
    """What is embedded: what a person would say the environment is."""
    return f"{environment.title}. {environment.mechanic}. {environment.skill.words}."


def _environment(values: dict[str, Any]) -> Environment:
    guide = values.pop("guide")
    if guide is not None:
        guide = Guide(**{**guide, "choices": tuple(guide["choices"])})
    return Environment(
        **{**values, "setting": Setting(values["setting"]), "skill": Skill(values["skill"]), "guide": guide}
    )
