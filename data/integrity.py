"""What must hold of a catalog whatever was killed when: nothing doubled, no link into nothing, every segment whole."""

from collections.abc import Iterator
from dataclasses import dataclass

from data.catalog import Catalog
from data.tables import TABLES


@dataclass(frozen=True, slots=True)
class Breach:
    """One rule that does not hold, with ids of the first rows that break it."""

    rule: str
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.rule}: {', '.join(self.rows)}"


RULES = {
    "each accepted attempt has its environment": """
        select attempt_id from attempts anti join environments using (env_id) where accepted""",
    "each slot has one accepted attempt at most": """
        select slot_id from attempts where accepted group by 1 having count(*) > 1""",
    "the attempts of a slot are numbered without a gap": """
        select slot_id from attempts group by 1
        having count(*) <> max(number) + 1 or count(distinct number) <> count(*)""",
    "each attempt belongs to a planned slot": "select attempt_id from attempts anti join slots using (slot_id)",
    "each attempt has its prompt": "select attempt_id from attempts anti join prompts using (prompt_id)",
    "each slot belongs to a cycle": "select slot_id from slots anti join cycles using (cycle_id)",
    "each slot has its document": "select slot_id from slots anti join documents using (document_id)",
    "each episode is of an accepted environment": """
        select episode_id from episodes anti join (select env_id from attempts where accepted) using (env_id)""",
    "each hinted episode has its hint": """
        select episode_id from episodes anti join hints using (hint_id) where arm = 'hinted'""",
    "each play is stored once": """
        select min(episode_id) from episodes group by cycle_id, env_id, round, arm, play having count(*) > 1""",
    "each hint belongs to an environment": "select hint_id from hints anti join environments using (env_id)",
    "each score is of stored episodes": """
        select env_id from scores anti join episodes using (cycle_id, env_id)""",
    "each decision is over an episode": "select decision_id from decisions anti join episodes using (episode_id)",
    "each dataset has all its rows": """
        select d.dataset_id from datasets d where rows <> (select count(*) from dataset_rows r
            where r.dataset_id = d.dataset_id)""",
    "each dataset row has its episode": """
        select row_id from dataset_rows anti join episodes using (episode_id) where coalesce(episode_id, '') <> ''""",
    "a finished cycle has all its episodes": """
        select cycle_id from summaries s where episodes <> (select count(*) from episodes e
            where e.cycle_id = s.cycle_id)""",
    "a finished cycle has a decision or an attempt for each slot": """
        select s.cycle_id from summaries s join slots using (cycle_id) anti join attempts using (slot_id)""",
}


def breaches(catalog: Catalog) -> list[Breach]:
    """Every rule that does not hold; reads all tables."""
    return [*_unreadable(catalog), *(b for rule, sql in RULES.items() if (b := _breach(catalog, rule, sql)))]


def _breach(catalog: Catalog, rule: str, sql: str) -> Breach | None:
    rows = catalog.query(f"select * from ({sql}) limit 5")
    return Breach(rule, tuple(str(next(iter(row.values()))) for row in rows)) if rows else None


def _unreadable(catalog: Catalog) -> Iterator[Breach]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in TABLES:
        broken = []
        for segment in catalog.engine.segments[name].live():
            try:
                pq.read_metadata(segment.path)
            except (OSError, pa.ArrowException):
                broken.append(segment.name)
        if broken:
            yield Breach(f"each segment of {name} can be read", tuple(broken[:5]))
