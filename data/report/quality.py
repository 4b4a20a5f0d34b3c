"""The paper's figures about a run, from the catalog: records in, a section of the report out."""

from collections.abc import Sequence
from dataclasses import dataclass

from data.catalog import Catalog
from data.report.cycles import CycleLine
from data.report.plots import Axis, Chart, Series, chart
from spade.curriculum import Curriculum
from spade.quality import Made, Quality, SkillFigures, TurnTokens, by_skill, figures, turn_tokens

LATEST = 200


@dataclass(frozen=True, slots=True)
class QualityPage:
    """What the section shows; `chart` is there when two cycles or more have tokens on record."""

    figures: tuple[Quality, ...]
    skills: tuple[SkillFigures, ...]
    chart: Chart | None


def quality_of(catalog: Catalog, lines: Sequence[CycleLine], stood: Sequence[Curriculum]) -> QualityPage:
    """Over the cycles of one run, in order; `stood` is where its curriculum stood after each of them."""
    cycles = [line.cycle_id for line in lines]
    made = _made(catalog, cycles, stood)
    said = turn_tokens(made.episodes, cycles)
    return QualityPage(tuple(figures(made)), tuple(by_skill(made)), _chart(lines, said))


def _made(catalog: Catalog, cycles: Sequence[str], stood: Sequence[Curriculum]) -> Made:
    slots = {slot.slot_id: slot for slot in catalog.slots(cycle_id=cycles)}
    attempts = catalog.attempts(slot_id=list(slots))
    accepted = [a.env_id for a in attempts if a.accepted]
    environments = catalog.environments(env_id=accepted)
    share = next((c.vendi_share for c in reversed(stood) if c.vendi_share is not None), None)
    count = min(len(environments), LATEST)
    return Made(
        attempts=attempts,
        environments=environments,
        scores=catalog.scores(cycle_id=cycles),
        episodes=[e for cycle in cycles for e in catalog.episodes(cycle_id=cycle, arm="plain")],
        vendi=share * count if share is not None else None,
        vendi_n=count,
        skills={e.env_id: e.skill.words for e in environments},
    )


def _chart(lines: Sequence[CycleLine], said: Sequence[TurnTokens]) -> Chart | None:
    if sum(each.plays > 0 for each in said) < 2:
        return None
    series = [Series("first turn", [s.first for s in said]), Series("later turns", [s.later for s in said])]
    return chart("Tokens of the agent in a turn", [line.number for line in lines], series, Axis.AMOUNT)
