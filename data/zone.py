"""A selection of tasks narrowed to the environments whose plays teach most, by the ratings that are stored."""

from data.catalog import Catalog
from data.kinds.base import Kind
from data.kinds.tasks import TaskKind
from data.rating import standing
from data.selection import Selection
from spade.errors import Abort
from spade.identity import rng_for
from spade.ratings import draw_in_zone


def in_zone(catalog: Catalog, kind: Kind, selection: Selection, count: int, seed: int) -> Selection:
    """The tasks of at most `count` environments: those first that the agent rated last is predicted to win with a
    probability of 0.3 to 0.7, and a tenth of harder ones. Raises `Abort` for a kind whose rows are no tasks."""
    if not isinstance(kind, TaskKind):
        raise Abort(f"Rows of kind {kind.name} are no tasks to draw from.", "Leave out the number of environments.")
    ratings = standing(catalog).ratings
    rows = catalog.query(
        "select arg_max(curriculum.agent, number) as agent from summaries where curriculum.agent <> ''"
    )
    agent = rows[0]["agent"] or ""
    predicted = {env_id: ratings.predicted(agent, env_id) for env_id in sorted({_env(k) for k in selection.keys})}
    drawn = set(draw_in_zone(list(predicted), predicted, count, rng_for(seed, "zone")))
    kept = ((cycle_id, tuple(k for k in keys if _env(k) in drawn)) for cycle_id, keys in selection.by_cycle)
    return Selection(selection.kind, tuple((cycle_id, keys) for cycle_id, keys in kept if keys))


def _env(key: str) -> str:
    """The environment of a task's key, `environment seed`."""
    return key.split()[0]
