"""How much waits to be learned from."""

from data.catalog import Catalog


def untrained_plays(catalog: Catalog) -> int:
    """Measured plays of finished cycles of which no update has seen anything."""
    rows = catalog.query(
        "select sum(measured) as plays from summaries where cycle_id not in (select cycle_id from train_batches)"
    )
    return int(rows[0]["plays"] or 0)
