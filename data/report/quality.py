"""The paper's figures about a run, from the catalog: records in, a section of the report out."""

from collections.abc import Sequence
from dataclasses import dataclass

from data.catalog import Catalog
from data.report.asking import ask_for
from data.report.cycles import CycleLine
from data.report.plots import Axis, Chart, Series, chart
from spade.curriculum import Curriculum
from spade.quality import Made, PlainPlay, Quality, TurnTokens, figures, turn_tokens
from spade.quality_groups import SHOWN, GroupFigures, divided, papers
from spade.skills import Setting
from spade.slots import Slot
from spade.tool_slots import tool_task

LATEST = 200


@dataclass(frozen=True, slots=True)
class QualityPage:
    """What the section shows; `chart` is there when two cycles or more have tokens on record."""

    figures: tuple[Quality, ...]
    groups: tuple[tuple[str, tuple[GroupFigures, ...]], ...]
    """By skill and by domain."""
    chart: Chart | None
    columns: tuple[str, ...] = SHOWN
    papers: tuple[str, ...] = tuple(papers())


def quality_of(catalog: Catalog, lines: Sequence[CycleLine], stood: Sequence[Curriculum]) -> QualityPage:
    """Over the cycles of one run, in order; `stood` is where its curriculum stood after each of them."""
    cycles = [line.cycle_id for line in lines]
    slots = catalog.slots(cycle_id=cycles)
    made = _made(catalog, cycles, slots, stood)
    said = turn_tokens(made.plays, cycles)
    skills = divided(made, {slot.slot_id: slot.skill.words for slot in slots})
    domains = divided(made, _domains(catalog, slots))
    groups = (("Skill", tuple(skills)), ("Domain", tuple(domains)))
    return QualityPage(tuple(figures(made)), groups, _chart(lines, said))


def _domains(catalog: Catalog, slots: Sequence[Slot]) -> dict[str, str]:
    """The domain of each slot: of tools the one that was drawn for it, of games its document's subject."""
    subjects = {d.document_id: d.subject for d in catalog.documents(document_id=[s.document_id for s in slots])}
    return {
        slot.slot_id: tool_task(slot).domain
        if slot.setting is Setting.TOOLS
        else subjects.get(slot.document_id) or "no subject"
        for slot in slots
    }


def _made(catalog: Catalog, cycles: Sequence[str], slots: Sequence[Slot], stood: Sequence[Curriculum]) -> Made:
    attempts = catalog.attempts(slot_id=[slot.slot_id for slot in slots])
    accepted = [a.env_id for a in attempts if a.accepted]
    environments = catalog.environments(env_id=accepted)
    share = next((c.vendi_share for c in reversed(stood) if c.vendi_share is not None), None)
    count = min(len(environments), LATEST)
    return Made(
        attempts=attempts,
        environments=environments,
        scores=catalog.scores(cycle_id=cycles),
        plays=[play for cycle in cycles for play in ask_for(PlainPlay, catalog, "plain", cycle)],
        vendi=share * count if share is not None else None,
        vendi_n=count,
    )


def _chart(lines: Sequence[CycleLine], said: Sequence[TurnTokens]) -> Chart | None:
    if sum(each.plays > 0 for each in said) < 2:
        return None
    series = [Series("first turn", [s.first for s in said]), Series("later turns", [s.later for s in said])]
    return chart("Tokens of the agent in a turn", [line.number for line in lines], series, Axis.AMOUNT)
