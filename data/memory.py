"""Scored environments, findable by meaning: LanceDB tables that several processes read and write at once."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.blemishes import mended
from data.embedding import Embedder, open_embedder
from data.writing import folder_made
from spade.environments import Environment
from spade.errors import Abort, boundary
from spade.hints import Hint
from spade.identity import canonical
from spade.messages import Guide
from spade.ports import Recalled
from spade.recall import Remembered
from spade.scores import Score
from spade.settings import MemorySettings
from spade.skills import Setting, Skill

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

INDEX_ABOVE = 20_000
"""Rows from which an approximate index is faster than looking at every vector."""
_EVERYTHING = 2**31 - 1


class VectorMemory:
    """One table per embedder and dimension under `home`/memory. One row an environment: its latest score."""

    def __init__(self, home: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self._home = Path(home)

    def __reduce__(self) -> tuple[type["VectorMemory"], tuple[Path, Embedder]]:
        return VectorMemory, (self._home, self.embedder)

    @property
    def semantic(self) -> bool:
        return self.embedder.semantic

    def describe(self) -> str:
        """One sentence for people: which embedder, how many environments."""
        return f"{self._table.count_rows()} environments; {self.embedder.describe()}"

    def add(self, env_id: str, text: str, payload: Mapping[str, Any]) -> None:
        """Remember an environment, or what is new about it. `payload` holds JSON values, `skill` among them."""
        row = {
            "env_id": env_id,
            "skill": str(payload.get("skill", "")),
            "order": time.time_ns(),
            "payload": canonical(dict(payload)),
            "vector": self.embedder.embed([text])[0],
        }
        with boundary(Abort, "cannot write the memory", f"Check the folder {self._home / 'memory'}."):
            upsert = self._table.merge_insert("env_id").when_matched_update_all().when_not_matched_insert_all()
            upsert.execute(self._rows([row]))

    def nearest(self, text: str, count: int) -> list[Recalled]:
        """The `count` nearest by cosine similarity, nearest first, each environment once."""
        vector = self.embedder.embed([text])[0]
        search: Any = self._table.search(vector, vector_column_name="vector")
        found = search.distance_type("cosine").select(["env_id", "payload", "_distance"]).limit(count).to_list()
        return [Recalled(r["env_id"], 1.0 - float(r["_distance"]), json.loads(r["payload"])) for r in found]

    def remember(self, environment: Environment, hint: Hint | None, scored: Score) -> None:
        """Add an environment with its hint and its score."""
        whole, _ = mended(environment)
        payload = {
            "skill": whole.skill,
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
        """All environments of a skill that were remembered with `remember`, oldest first."""
        search = self._table.search().where(f"skill = '{Skill(skill).value}'")
        rows = search.select(["payload", "order"]).limit(_EVERYTHING).to_list()
        return sorted(
            (_remembered(r["payload"], r["order"]) for r in rows), key=lambda r: (r.order, r.environment.env_id)
        )

    def optimise(self) -> None:
        """Merge small files and, in a large memory, build the search index. One process at a time, now and then."""
        self._table.optimize(cleanup_older_than=timedelta(hours=1))
        if self._table.count_rows() > INDEX_ABOVE:
            from lancedb.index import IvfPq

            self._table.create_index("vector", config=IvfPq(distance_type="cosine"), replace=True)

    @cached_property
    def _table(self) -> "lancedb.table.Table":
        import lancedb

        folder = self._home / "memory"
        folder_made(folder)
        name = f"environments_{self.embedder.name}_{self.embedder.dimension}"
        with boundary(Abort, "cannot open the memory", f"Check the folder {folder}."):
            database = lancedb.connect(str(folder), read_consistency_interval=timedelta(0))
            return database.create_table(name, schema=self._schema, exist_ok=True)

    @property
    def _schema(self) -> "pa.Schema":
        import pyarrow as pa

        texts: list[Any] = [pa.field(n, pa.string()) for n in ("env_id", "skill", "payload")]
        vector: Any = pa.field("vector", pa.list_(pa.float32(), self.embedder.dimension))
        return pa.schema([*texts, pa.field("order", pa.int64()), vector])

    def _rows(self, rows: list[dict[str, Any]]) -> "pa.Table":
        import pyarrow as pa

        return pa.Table.from_pylist(rows, schema=self._schema)


def open_memory(settings: MemorySettings, home: Path) -> VectorMemory:
    """The memory of a run. Raises `Abort` when the embedder that was asked for is not installed."""
    return VectorMemory(home, open_embedder(settings.embedder))


def description(environment: Environment) -> str:
    """What is embedded: what a person would say the environment is."""
    return f"{environment.title}. {environment.mechanic}. {environment.skill.words}."


def _remembered(payload: str, order: int) -> Remembered:
    values = json.loads(payload)
    return Remembered(_environment(values["environment"]), values["win_rate"], values["regret"], order, values["hint"])


def _environment(values: dict[str, Any]) -> Environment:
    guide = values.pop("guide")
    if guide is not None:
        guide = Guide(**{**guide, "choices": tuple(guide["choices"])})
    return Environment(
        **{**values, "setting": Setting(values["setting"]), "skill": Skill(values["skill"]), "guide": guide}
    )
