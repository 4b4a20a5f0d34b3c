"""What goes into a dataset, in an order that depends on what it is and not on when it was stored."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from data.catalog import Catalog
from data.tables import EPISODES
from spade.curation import Pool
from spade.episodes import Episode
from spade.errors import Abort
from spade.identity import canonical, digest
from spade.skills import Setting

T = TypeVar("T")
ORDER = "cycle_id, env_id, round, arm, play, episode_id"


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
    """Keys of rows by cycle, in the order of the rows; what a key is depends on the kind: mostly an episode id."""

    kind: str
    by_cycle: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for _, keys in self.by_cycle for key in keys)

    @property
    def digest(self) -> str:
        return digest(canonical([self.kind, self.keys]))[:16]

    def __len__(self) -> int:
        return sum(len(keys) for _, keys in self.by_cycle)


def grouped(kind: str, rows: Sequence[dict[str, str]]) -> Selection:
    """A selection from rows with `cycle_id` and `key`, already in order."""
    by_cycle: dict[str, list[str]] = {}
    for row in rows:
        by_cycle.setdefault(row["cycle_id"], []).append(row["key"])
    return Selection(kind, tuple((cycle_id, tuple(keys)) for cycle_id, keys in by_cycle.items()))


def select(
    catalog: Catalog,
    pools: Sequence[Pool],
    cycle_ids: Sequence[str] | None = None,
    setting: Setting = Setting.GAMES,
) -> Selection:
    """All episodes that a decision keeps in one of `pools` and no review refuses; with `cycle_ids`, of these cycles.

    Of games, or of tool-use environments: what was said there is of another form.

    Of episodes in which the same things were seen and said, the first stays: a cycle's own curation cannot know of
    those in other cycles. Raises `Abort` when a cycle was decided by several sets of rules.
    """
    where, parameters = within(cycle_ids)
    parameters = [[pool.value for pool in pools], *parameters]
    kept = f"""from decisions as d join episodes as e using (episode_id)
        where d.kept and e.blemishes is null and d.pool in (select unnest(?::varchar[])){where}
            and d.episode_id not in (select episode_id from refused)
            and {"" if setting is Setting.TOOLS else "not "}e.env_id in (
                select env_id from environments where setting = '{Setting.TOOLS.value}')"""
    twice = catalog.query(f"select e.cycle_id {kept} group by 1 having count(distinct d.rules) > 1 limit 1", parameters)
    if twice:
        raise Abort(
            f"{twice[0]['cycle_id']} was curated by several sets of rules, which disagree.",
            "Export other cycles, or run it again in a new home.",
        )
    rows = catalog.query(
        f"""select cycle_id, episode_id as key from (
            select e.cycle_id, e.episode_id, e.env_id, e.round, e.arm, e.play,
                md5(list_transform(e.turns, lambda t: [t.observation, t.reply])::varchar) as transcript
            {kept}
        )
        qualify row_number() over (partition by transcript order by {ORDER}) = 1
        order by {ORDER}""",
        parameters,
    )
    return grouped("+".join(pools), rows)


def within(cycle_ids: Sequence[str] | None) -> tuple[str, list[object]]:
    """An SQL condition on `e.cycle_id`, with its parameters; empty for all cycles."""
    if cycle_ids is None:
        return "", []
    return " and e.cycle_id in (select unnest(?::varchar[]))", [list(cycle_ids)]


def chosen(catalog: Catalog, selection: Selection) -> Iterator[Chosen]:
    """The episodes of a selection whose keys are episode ids, in its order, two cycles in memory at a time."""
    for cycle in _ahead(partial(_of_cycle, catalog, cycle_id, ids) for cycle_id, ids in selection.by_cycle):
        yield from cycle


def _of_cycle(catalog: Catalog, cycle_id: str, ids: Sequence[str]) -> list[Chosen]:
    chains = chains_of(catalog, cycle_id)
    found = {e.episode_id: e for e in catalog.read(EPISODES, cycle_id=cycle_id, episode_id=ids)}
    marks = _blemishes(catalog, cycle_id)
    episodes = [found[episode_id] for episode_id in ids]
    return [Chosen(e, chains.get(e.asked.env_id), marks.get(e.episode_id, ())) for e in episodes]


def _ahead(work: Iterable[Callable[[], T]]) -> Iterator[T]:
    """The results in order; while the caller looks at one, a thread reads the next."""
    with ThreadPoolExecutor(1) as thread:
        begun = deque[Future[T]]()
        for one in work:
            begun.append(thread.submit(one))
            if len(begun) > 1:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def chains_of(catalog: Catalog, cycle_id: str) -> dict[str, Chain]:
    """The chains of a cycle's environments, by environment id."""
    rows = catalog.query("select * from chains where cycle_id = ?", [cycle_id])
    return {row["env_id"]: Chain(**row) for row in rows}


def _blemishes(catalog: Catalog, cycle_id: str) -> dict[str, tuple[str, ...]]:
    rows = catalog.query(
        "select episode_id, blemishes from episodes where cycle_id = ? and blemishes is not null", [cycle_id]
    )
    return {row["episode_id"]: tuple(row["blemishes"]) for row in rows}
