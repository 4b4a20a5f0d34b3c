"""What follows from a cycle's figures: its funnel, its skills, and what a reader must know before trusting it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from data.report.cycles import Count, CycleReport, EnvironmentLine, total
from spade.curation import Pool
from spade.outcomes import EpisodeOutcome
from spade.scores import ArmScore
from spade.summary import BAND


@dataclass(frozen=True, slots=True)
class SkillLine:
    """One skill of a cycle. `regret` is the mean over `regrets` environments, None when there are none."""

    skill: str
    slots: int
    attempts: int
    accepted: int
    hinted: int
    played: int
    scored: int
    plain: ArmScore
    arm_hinted: ArmScore
    regret: float | None
    regrets: int
    in_band: int
    exported: int


def environment_funnel(report: CycleReport) -> tuple[Count, ...]:
    """From slots to environments that gave rows."""
    made = report.environments
    return (
        Count("slots planned", len(report.slots)),
        Count("environments accepted", len(made)),
        Count("with a hint", sum(not e.hint_note for e in made)),
        Count("played", sum(e.played for e in made)),
        Count("scored", sum(e.scored for e in made)),
        Count("gave dataset rows", sum(e.exported > 0 for e in made)),
    )


def episode_funnel(report: CycleReport) -> tuple[Count, ...]:
    """From plays asked for to episodes in a dataset."""
    arms = [a for e in report.environments for a in (e.plain, e.hinted)]
    plain = total([e.plain for e in report.environments])
    return (
        Count("plays asked for", sum(a.asked for a in arms)),
        Count("measured", sum(a.measured for a in arms)),
        Count("of the plain arm", plain.measured),
        Count("won", plain.wins),
        Count("kept as positives", report.positives),
        Count("in a dataset", sum(e.exported for e in report.environments)),
    )


def attempts_by_end(report: CycleReport) -> tuple[Count, ...]:
    """All attempts: accepted ones first, then those that each gate stopped."""
    accepted = report.line.attempts - sum(c.n for c in report.rejections)
    return (Count("accepted", accepted), *(Count(c.name or "no gate named", c.n, c.note) for c in report.rejections))


def skill_lines(report: CycleReport) -> tuple[SkillLine, ...]:
    """One line a skill, in the order in which the slots name them."""
    return tuple(_skill(report, skill) for skill in dict.fromkeys(slot.skill for slot in report.slots))


def _skill(report: CycleReport, skill: str) -> SkillLine:
    slots = [s for s in report.slots if s.skill == skill]
    made = [e for e in report.environments if e.skill == skill]
    regrets = [e.score.regret for e in made if e.score is not None and e.score.regret is not None]
    return SkillLine(
        skill=skill,
        slots=len(slots),
        attempts=sum(s.attempts for s in slots),
        accepted=len(made),
        hinted=sum(not e.hint_note for e in made),
        played=sum(e.played for e in made),
        scored=sum(e.scored for e in made),
        plain=total([e.plain for e in made]),
        arm_hinted=total([e.hinted for e in made]),
        regret=fmean(regrets) if regrets else None,
        regrets=len(regrets),
        in_band=sum(in_band(e) for e in made),
        exported=sum(e.exported for e in made),
    )


def in_band(environment: EnvironmentLine) -> bool:
    """Whether the environment is scored and its plain win rate lies in the learnable band."""
    rate = environment.plain.win_rate
    return environment.scored and rate is not None and BAND[0] <= rate <= BAND[1]


def cautions(report: CycleReport) -> Iterator[str]:
    """One sentence for each thing that a reader of the figures must know, missing numbers first."""
    line, made = report.line, report.environments
    if not line.finished:
        yield "This cycle is not finished: the figures are those so far."
    if not made:
        yield _nothing_made(report)
    for count, what in ((_without_score(made), "score"), (_without_regret(made), "regret")):
        for reason, n in count.most_common():
            yield f"{_of(n, len(made), 'environment')} without a {what}: {reason}."
    unmeasured = [o for o in report.outcomes if not EpisodeOutcome(o.outcome).measured]
    if unmeasured:
        ended = ", ".join(f"{o.plain + o.hinted} {o.outcome}" for o in unmeasured)
        n = sum(o.plain + o.hinted for o in unmeasured)
        yield f"{_of(n, line.asked, 'play')} not measured ({ended}); they count in no mean and no win rate."
    unpriced, calls = sum(s.unpriced for s in report.stages), sum(s.n for s in report.stages if s.stage != "gates")
    if unpriced:
        yield f"Cost: no price is known for {unpriced:,} of {calls:,} attempts, hints and episodes: they are left out."
    if made and line.finished and not line.exported:
        yield f"No episode went into a dataset: {_left_out(report)}."


def _nothing_made(report: CycleReport) -> str:
    if not report.line.attempts:
        return "No environment was accepted: no attempt has been stored for any slot."
    worst = report.rejections[0] if report.rejections else None
    most = f", {worst.n:,} of them {worst.name}" if worst and worst.name else ""
    refused = f"all {report.line.attempts:,} attempts" if report.line.attempts > 1 else "the only attempt"
    return f"No environment was accepted: {refused} for {len(report.slots)} slots failed a gate{most}."


def _without_score(made: tuple[EnvironmentLine, ...]) -> "Counter[str]":
    return Counter((e.score.reason if e.score else "not scored yet") for e in made if not e.scored)


def _without_regret(made: tuple[EnvironmentLine, ...]) -> "Counter[str]":
    return Counter(e.regret_reason for e in made if e.scored and e.score is not None and e.score.regret is None)


def _left_out(report: CycleReport) -> str:
    reasons = [d for d in report.decisions if not d.kept and d.pool == Pool.POSITIVE]
    if not report.decisions:
        return "nothing was decided about any episode"
    return ", ".join(f"{d.n} {d.name}" for d in reasons) or "no export was made"


def _of(n: int, whole: int, thing: str) -> str:
    return f"{n:,} of {whole:,} {thing}{'' if whole == 1 else 's'}"
