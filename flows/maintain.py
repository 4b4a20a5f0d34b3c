"""Housekeeping while everything else runs: merge small files, expire by rule, sweep, check, and show the disk."""

from dataclasses import asdict
from typing import Any

from prefect import flow

from data.catalog import Catalog
from data.memory import open_memory
from flows.allocating import trim
from flows.configuring import flags_of, load_settings
from flows.preflight import writable
from spade.errors import Abort
from tasks.maintaining import (
    Upkeep,
    check,
    compact,
    compact_memory,
    expire_old,
    measure,
    show_upkeep,
    sweep_files,
    upkeep_markdown,
)


@flow(name="maintain", flow_run_name="maintain")
async def maintain(profile: str = "starter", home: str | None = None) -> dict[str, Any]:
    """Keep the disk bounded and the catalog quick; safe while runs are under way. Returns what was done.

    Fails when a rule of the catalog does not hold, so that somebody looks.

    Args:
        profile: Settings profile whose [retention] applies.
        home: Folder of run artifacts; var when empty.
    """
    settings = load_settings(profile, flags_of(home=home))
    writable(settings.home)
    catalog = Catalog(settings.home, settings.store)
    try:
        before = measure(settings.home)
        gone = expire_old(catalog, settings.retention)
        merged = compact(catalog)
        compact_memory(open_memory(settings.memory, settings.home, settings.store))
        gone |= sweep_files(catalog, settings.home, settings.retention)
        broken = tuple(check(catalog))
        upkeep = Upkeep(merged, gone, broken, before, measure(settings.home))
    finally:
        catalog.close()
        trim()
    await show_upkeep(upkeep)
    if broken:
        raise Abort(
            f"{len(broken)} rules of the catalog do not hold: {broken[0]}.", "Restore a backup, or ask for help."
        )
    return {**asdict(upkeep), "page": upkeep_markdown(upkeep)}
