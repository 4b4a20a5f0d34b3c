"""What curation must know beyond the episodes themselves, read from the catalog and from evaluation sets."""

from collections.abc import Sequence
from pathlib import Path

from data.catalog import Catalog
from data.evaluation_sets import evaluation_data
from data.reviewing import refusals
from spade.curation import Evidence
from spade.curation_settings import CurationSettings
from spade.episodes import Episode

ORACLE = "semantic.oracle_max"
"""The gate whose pass proves that an environment can be solved."""


def gathered(
    catalog: Catalog,
    cycle_id: str,
    episodes: Sequence[Episode],
    settings: CurationSettings,
    replayed: frozenset[str],
) -> Evidence:
    """The evidence about one cycle's episodes. Raises `Abort` for an evaluation set that cannot be read."""
    return Evidence(
        replayed=replayed,
        solvable=frozenset(_ids(catalog, _SOLVABLE, cycle_id)),
        blemished=frozenset(_ids(catalog, _BLEMISHED, cycle_id)),
        contaminated=_contaminated(episodes, settings.evaluation_sets) if settings.evaluation_sets else {},
        left_out=frozenset(settings.leave_out),
        refused=refusals(catalog, cycle_id),
    )


_SOLVABLE = f"""select distinct a.env_id as id from attempts as a join slots as s using (slot_id)
    where a.accepted and s.cycle_id = ?
    and len(list_filter(a.verdicts, lambda v: v.gate = '{ORACLE}' and v.status = 'pass')) > 0"""
_BLEMISHED = "select episode_id as id from episodes where cycle_id = ? and blemishes is not null"


def _ids(catalog: Catalog, sql: str, cycle_id: str) -> list[str]:
    return [row["id"] for row in catalog.query(sql, [cycle_id])]


def _contaminated(episodes: Sequence[Episode], paths: tuple[Path, ...]) -> dict[str, str]:
    data = evaluation_data(paths)
    found = {e.episode_id: data.shared("\n".join(t.observation for t in e.turns)) for e in episodes}
    return {episode_id: shared for episode_id, shared in found.items() if shared}
