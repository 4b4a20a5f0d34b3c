"""Which episodes go into a dataset, in an order that depends on what they are and not on when they were stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.catalog import Catalog
from data.tables import EPISODES
from spade.curation import Pool
from spade.episodes import Episode
from spade.identity import canonical, digest

_ORDER = "cycle_id, env_id, round, arm, play, episode_id"


@dataclass(frozen=True, slots=True)
class Chain:
    """Where an environment came from, as ids; and what it trains. `designer` is the model that wrote it."""

    env_id: str
    cycle_id: str
    attempt_id: str
    slot_id: str
    prompt_id: str
    document_id: str
    setting: str
    skill: str
    slot_seed: int
    designer: str
    designer_weights: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """One episode of a selection with where its environment came from; `chain` is None when that was not stored."""

    episode: Episode
    chain: Chain | None
    blemishes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    """Episode ids by cycle: cycles by id, episodes by environment, round and play."""

    pool: Pool
    by_cycle: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def episode_ids(self) -> tuple[str, ...]:
        return tuple(episode_id for _, ids in self.by_cycle for episode_id in ids)

    @property
    def digest(self) -> str:
        return digest(canonical([self.pool, self.episode_ids]))[:16]

    def __len__(self) -> int:
        return sum(len(ids) for _, ids in self.by_cycle)


def select(catalog: Catalog, pool: Pool, cycle_ids: Sequence[str] | None = None) -> Selection:
    """All episodes that a decision keeps in `pool`; of these cycles alone when `cycle_ids` are given.

    Of episodes in which the same things were seen and said, the first stays: a cycle's own curation cannot know of
    those in other cycles.
    """
    where, parameters = "", []
    if cycle_ids is not None:
        where, parameters = " and e.cycle_id in (select unnest(?::varchar[]))", [list(cycle_ids)]
    rows = catalog.query(
        f"""select cycle_id, episode_id from (
            select e.cycle_id, e.episode_id, e.env_id, e.round, e.arm, e.play,
                md5(list_transform(e.turns, lambda t: [t.observation, t.reply])::varchar) as transcript
            from decisions as d join episodes as e using (episode_id)
            where d.kept and d.pool = '{pool.value}'{where}
        )
        qualify row_number() over (partition by transcript order by {_ORDER}) = 1
        order by {_ORDER}""",
        parameters,
    )
    by_cycle: dict[str, list[str]] = {}
    for row in rows:
        by_cycle.setdefault(row["cycle_id"], []).append(row["episode_id"])
    return Selection(pool, tuple((cycle_id, tuple(ids)) for cycle_id, ids in by_cycle.items()))


def chosen(catalog: Catalog, selection: Selection) -> Iterator[Chosen]:
    """The episodes of a selection in its order, one cycle in memory at a time."""
    for cycle_id, ids in selection.by_cycle:
        chains = {c.env_id: c for c in _chains(catalog, cycle_id)}
        found = {e.episode_id: e for e in catalog.read(EPISODES, cycle_id=cycle_id, episode_id=ids)}
        marks = _blemishes(catalog, cycle_id)
        for episode_id in ids:
            episode = found[episode_id]
            yield Chosen(episode, chains.get(episode.asked.env_id), marks.get(episode_id, ()))


def _chains(catalog: Catalog, cycle_id: str) -> list[Chain]:
    return [Chain(**row) for row in catalog.query("select * from chains where cycle_id = ?", [cycle_id])]


def _blemishes(catalog: Catalog, cycle_id: str) -> dict[str, tuple[str, ...]]:
    rows = catalog.query(
        "select episode_id, blemishes from episodes where cycle_id = ? and blemishes is not null", [cycle_id]
    )
    return {row["episode_id"]: tuple(row["blemishes"]) for row in rows}
