"""Housekeeping as Prefect tasks: merge, expire, sweep, check; and the page that shows what the disk holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from prefect import task
from prefect.artifacts import acreate_markdown_artifact
from prefect.cache_policies import NO_CACHE

from data.catalog import Catalog
from data.disk import disk_by_folder
from data.expiry import expire
from data.integrity import Breach, breaches
from data.memory import VectorMemory
from data.sweeping import sweep
from spade.operating_settings import RetentionSettings


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What maintenance did. `merged` counts files by table, `gone` what expired or was deleted by sort, sizes are in
    bytes by folder."""

    merged: Mapping[str, int]
    gone: Mapping[str, int]
    breaches: tuple[Breach, ...]
    before: Mapping[str, int]
    after: Mapping[str, int]


@task(cache_policy=NO_CACHE, task_run_name="compact the catalog")
def compact(catalog: Catalog) -> dict[str, int]:
    """Merge small files of each table; how many files were merged."""
    return catalog.compact()


@task(cache_policy=NO_CACHE, task_run_name="compact the memory")
def compact_memory(memory: VectorMemory) -> None:
    """Merge the memory's small files and drop its old versions."""
    memory.optimise()


@task(cache_policy=NO_CACHE, task_run_name="expire by rule")
def expire_old(catalog: Catalog, settings: RetentionSettings) -> dict[str, int]:
    """Empty old transcripts and refused replies that no dataset needs."""
    return expire(catalog, settings)


@task(cache_policy=NO_CACHE, task_run_name="sweep files")
def sweep_files(catalog: Catalog, home: Path, settings: RetentionSettings) -> dict[str, int]:
    """Delete cached verdicts, pages and logs that are past their time."""
    return sweep(home, settings, [summary.cycle_id for summary in catalog.summaries()])


@task(cache_policy=NO_CACHE, task_run_name="check the catalog")
def check(catalog: Catalog) -> list[Breach]:
    """Every rule of the catalog that does not hold."""
    return breaches(catalog)


@task(cache_policy=NO_CACHE, task_run_name="measure the disk")
def measure(home: Path) -> dict[str, int]:
    """Bytes on disk by folder."""
    return disk_by_folder(home)


async def show_upkeep(upkeep: Upkeep) -> None:
    """The page in the UI."""
    await acreate_markdown_artifact(key="disk", markdown=upkeep_markdown(upkeep), description="Disk use and upkeep")


def upkeep_markdown(upkeep: Upkeep) -> str:
    """What was done and what the disk holds, as Markdown."""
    names = dict.fromkeys([*upkeep.after, *upkeep.before])
    rows = [f"| {n} | {_mib(upkeep.before.get(n, 0))} | {_mib(upkeep.after.get(n, 0))} |" for n in names]
    total = f"| **all** | {_mib(sum(upkeep.before.values()))} | {_mib(sum(upkeep.after.values()))} |"
    merged = ", ".join(f"{table} {count}" for table, count in upkeep.merged.items()) or "nothing"
    gone = ", ".join(f"{sort} {count}" for sort, count in upkeep.gone.items() if count) or "nothing"
    found = "\n".join(f"- **broken** {breach}" for breach in upkeep.breaches) or "Every rule of the catalog holds."
    head = "| folder | MiB before | MiB now |\n|---|---:|---:|"
    return "\n".join([head, *rows, total, "", f"Files merged: {merged}.", "", f"Expired: {gone}.", "", found])


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f}"
