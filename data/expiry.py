"""Old transcripts and refused attempts lose what nobody needs any more; ids, verdicts, scores and usage stay.

A row that lost something says so in `blemishes`, so that it is never exported or trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data.catalog import Catalog
from data.compaction import merged_with
from data.tables import ATTEMPTS, EPISODES, Table
from spade.operating_settings import RetentionSettings

EXPIRED = "expired"
"""What `blemishes` names a row that lost its transcript or its reply by the rule of retention."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """Which columns of a table's rows are emptied, as SQL expressions of the same type."""

    table: Table[Any]
    key: str
    columns: tuple[tuple[str, str], ...]

    def expressions(self) -> dict[str, str]:
        """The value of each column of a row that expires."""
        marks = f"list_append(coalesce(blemishes, []::varchar[]), '{EXPIRED}')"
        return {**dict(self.columns), "blemishes": marks}


TRANSCRIPTS = Emptied(
    EPISODES, "episode_id", (("turns", "list_slice(turns, 1, 0)"), ("system", "''"), ("final_observation", "''"))
)
REPLIES = Emptied(ATTEMPTS, "attempt_id", (("text", "''"), ("reasoning", "''"), ("tokens", "null")))


def expire(catalog: Catalog, settings: RetentionSettings) -> dict[str, int]:
    """Empty what is older than the settings keep; how many transcripts and replies were emptied now."""
    finished = [summary.cycle_id for summary in catalog.summaries()]
    transcripts = _old(finished, settings.transcripts_cycles)
    replies = _old(finished, settings.attempts_cycles)
    return {
        "transcripts": _emptied(catalog, TRANSCRIPTS, _plays(catalog, transcripts)),
        "replies": _emptied(catalog, REPLIES, _refused(catalog, replies)),
    }


def _old(finished: Sequence[str], kept: int | None) -> list[str]:
    """The finished cycles before the newest `kept`, in the order in which they were finished."""
    return [] if kept is None else list(finished[: max(0, len(finished) - kept)])


def _plays(catalog: Catalog, cycle_ids: list[str]) -> list[str]:
    """Plays that no dataset names and that no decision keeps for one; those kept for a group's update are spent."""
    return _ids(
        catalog,
        f"""select episode_id as id from episodes where cycle_id in (select unnest(?::varchar[]))
        and not list_contains(coalesce(blemishes, []::varchar[]), '{EXPIRED}')
        and episode_id not in (select episode_id from dataset_rows where episode_id is not null)
        and episode_id not in (select paired_episode_id from dataset_rows where paired_episode_id is not null)
        and episode_id not in (select episode_id from decisions where kept and pool <> 'group')""",
        cycle_ids,
    )


def _refused(catalog: Catalog, cycle_ids: list[str]) -> list[str]:
    return _ids(
        catalog,
        f"""select attempt_id as id from attempts join slots using (slot_id) where not accepted
        and cycle_id in (select unnest(?::varchar[]))
        and not list_contains(coalesce(attempts.blemishes, []::varchar[]), '{EXPIRED}')""",
        cycle_ids,
    )


def _ids(catalog: Catalog, sql: str, cycle_ids: list[str]) -> list[str]:
    return [row["id"] for row in catalog.query(sql, [cycle_ids])] if cycle_ids else []


def _emptied(catalog: Catalog, emptied: Emptied, ids: list[str]) -> int:
    if not ids:
        return 0
    done = merged_with(catalog.engine, emptied.table, emptied.key, ids, emptied.expressions())
    return len(ids) if done else 0
