"""Which pages there are and where: an index, and a folder a cycle with a page for each environment and failed slot."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from data.catalog import Catalog
from data.report.cycles import CycleLine, CycleReport, cycle_lines, cycle_report
from data.report.environments import CyclePages
from data.report.figures import file_name
from data.report.findings import attempts_by_end, cautions, environment_funnel, episode_funnel, skill_lines
from data.report.quality import quality_of
from data.report.rendering import rendered
from data.report.trends import trends
from data.writing import folder_made, written
from spade.curriculum import Curriculum
from spade.errors import Abort

INDEX = "index.html"
QUALITY_CYCLES = 20
"""Latest cycles of a run that the figures beside the paper's are over: all plays of a run of weeks are too many."""


def write_report(catalog: Catalog, out: Path, *, cycles: Sequence[str] | None = None) -> Path:
    """Write the report into `out` and return its index.

    `cycles` are the ids of those whose pages are written, all of them when None; the index always shows every cycle and
    links to those whose pages exist. The same catalog gives the same files, byte for byte. Raises `Abort` for an
    unknown cycle and for a folder that cannot be written.
    """
    lines = cycle_lines(catalog)
    chosen = _chosen(lines, cycles)
    newest: CycleReport | None = None
    for line in chosen:
        report = cycle_report(catalog, line)
        newest = report if line is lines[-1] else newest
        _write_cycle(catalog, report, out / "cycles" / line.cycle_id)
    if lines and newest is None:
        newest = cycle_report(catalog, lines[-1])
    stood = {summary.cycle_id: summary.curriculum for summary in catalog.summaries()}
    return _write(out / INDEX, _index(catalog, lines, newest, stood, out))


def _chosen(lines: Sequence[CycleLine], cycles: Sequence[str] | None) -> list[CycleLine]:
    known = {line.cycle_id: line for line in lines}
    unknown = [cycle for cycle in cycles or () if cycle not in known]
    if unknown:
        raise Abort(f"the catalog has no cycle {unknown[0]!r}.", "`spade sql 'from cycles'` lists them.")
    return list(lines) if cycles is None else [known[cycle] for cycle in dict.fromkeys(cycles)]


def _write_cycle(catalog: Catalog, report: CycleReport, folder: Path) -> None:
    pages = CyclePages(catalog, report)
    for page in pages.environments():
        _write(folder / file_name(page.line.env_id), rendered("environment.html.j2", page=page, home="../../"))
    for slot_page in pages.slots():
        _write(folder / file_name(slot_page.slot.slot_id), rendered("slot.html.j2", page=slot_page, home="../../"))
    _write(folder / INDEX, rendered("cycle.html.j2", **_shown(report), base="", home="../../"))


def _shown(report: CycleReport) -> dict[str, object]:
    """What the templates need of one cycle."""
    return {
        "report": report,
        "places": {slot.slot_id: slot.index + 1 for slot in report.slots},
        "cautions": list(cautions(report)),
        "environment_funnel": environment_funnel(report),
        "episode_funnel": episode_funnel(report),
        "attempts_by_end": attempts_by_end(report),
        "skill_lines": skill_lines(report),
    }


def _index(
    catalog: Catalog,
    lines: Sequence[CycleLine],
    newest: CycleReport | None,
    stood: Mapping[str, Curriculum],
    out: Path,
) -> str:
    if newest is None:
        return rendered("empty.html.j2", home="")
    run = (newest.line.settings_hash, newest.line.seed)
    of_run = sorted((x for x in lines if (x.settings_hash, x.seed) == run), key=lambda x: x.number)
    charts = list(trends(of_run, stood))
    latest = of_run[-QUALITY_CYCLES:]
    return rendered(
        "index.html.j2",
        **_shown(newest),
        quality=quality_of(catalog, latest, [stood[x.cycle_id] for x in latest if x.cycle_id in stood]),
        lines=list(reversed(lines)),
        runs=len({(x.settings_hash, x.seed) for x in lines}),
        charts=charts if len(of_run) > 1 else [],
        there={x.cycle_id for x in lines if (out / "cycles" / x.cycle_id / INDEX).exists()},
        base=f"cycles/{newest.line.cycle_id}/",
        home="",
    )


def _write(path: Path, text: str) -> Path:
    folder_made(path.parent)
    with written(path, flushed=False) as file:
        file.write(text.encode("utf-8"))
    return path
