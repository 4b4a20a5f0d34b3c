"""What the report says of a cycle: its slots, its environments, how attempts and episodes ended, what it all took."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data.catalog import Catalog
from data.report.asking import ask, ask_for
from spade.curation import Pool
from spade.scores import ArmScore, Score
from spade.summary import BAND


@dataclass(frozen=True, slots=True)
class CycleLine:
    """One cycle in figures. `regret` is None where no environment has one, `cost` where no call has a price, `seconds`
    (wall time of the sitting that finished it) while it is not finished."""

    cycle_id: str
    settings_hash: str
    seed: int
    number: int
    slots: int
    attempts: int
    accepted: int
    first_try: int
    asked: int
    measured: int
    plain_measured: int
    plain_wins: int
    hinted_measured: int
    hinted_wins: int
    scored: int
    regrets: int
    regret: float | None
    in_band: int
    exported: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float | None

    @property
    def finished(self) -> bool:
        return self.seconds is not None

    @property
    def plain_rate(self) -> float | None:
        return share(self.plain_wins, self.plain_measured)

    @property
    def hinted_rate(self) -> float | None:
        return share(self.hinted_wins, self.hinted_measured)

    @property
    def accepted_share(self) -> float | None:
        """Accepted environments per slot."""
        return share(self.accepted, self.slots)

    @property
    def attempts_accepted(self) -> float | None:
        """Accepted environments per attempt."""
        return share(self.accepted, self.attempts)

    @property
    def band_share(self) -> float | None:
        """Scored environments whose plain win rate lies in `BAND`, per scored environment."""
        return share(self.in_band, self.scored)


@dataclass(frozen=True, slots=True)
class SlotLine:
    """One slot and what became of it. `gate` and `message` are those of its last attempt, empty when accepted."""

    slot_id: str
    index: int
    skill: str
    document_id: str
    document: str
    subject: str
    attempts: int
    env_id: str
    gate: str
    message: str


@dataclass(frozen=True, slots=True)
class EnvironmentLine:
    """One accepted environment. `kept` and `exported` count episodes; `score` is None before it is scored."""

    env_id: str
    slot_id: str
    title: str
    skill: str
    mechanic: str
    plain: ArmScore
    hinted: ArmScore
    hint_note: str
    """Why there is no hinted arm; empty when there is an accepted hint."""
    kept: int
    exported: int
    score: Score | None

    @property
    def played(self) -> bool:
        return self.plain.asked + self.hinted.asked > 0

    @property
    def scored(self) -> bool:
        return self.score is not None and self.score.plateau is not None

    @property
    def regret_reason(self) -> str:
        """Why the regret is missing."""
        return (self.score.reason or "no regret was measured") if self.score else "not scored yet"


@dataclass(frozen=True, slots=True)
class Count:
    """How often something was the case, with an example or explanation."""

    name: str
    n: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """How many episodes of each arm ended this way; `note` is one detail as an example."""

    outcome: str
    plain: int
    hinted: int
    note: str


@dataclass(frozen=True, slots=True)
class StageLine:
    """What one stage took. Seconds add up over calls that ran side by side; `unpriced` calls have no known cost."""

    stage: str
    n: int
    seconds: float
    median: float
    longest: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """How many episodes were kept in a pool, or left out for one reason (`name`)."""

    pool: str
    kept: bool
    name: str
    n: int


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """A dataset; `here` counts its rows that come from the cycle."""

    dataset_id: str
    name: str
    kind: str
    rows: int
    here: int


@dataclass(frozen=True, slots=True)
class CycleReport:
    """Everything the page of one cycle shows."""

    line: CycleLine
    slots: tuple[SlotLine, ...]
    environments: tuple[EnvironmentLine, ...]
    rejections: tuple[Count, ...]
    outcomes: tuple[OutcomeLine, ...]
    stages: tuple[StageLine, ...]
    decisions: tuple[DecisionLine, ...]
    datasets: tuple[DatasetLine, ...]

    @property
    def positives(self) -> int:
        """Episodes kept in the positive pool."""
        return sum(d.n for d in self.decisions if d.kept and d.pool == Pool.POSITIVE)


def cycle_lines(catalog: Catalog) -> tuple[CycleLine, ...]:
    """All cycles in the order in which they were planned."""
    planned = {cycle.cycle_id: place for place, cycle in enumerate(catalog.cycles())}
    return tuple(sorted(ask_for(CycleLine, catalog, "overview", *BAND), key=lambda line: planned[line.cycle_id]))


def cycle_report(catalog: Catalog, line: CycleLine) -> CycleReport:
    """Everything about one cycle but its environments' own pages."""
    scores = {score.env_id: score for score in reversed(catalog.scores(cycle_id=line.cycle_id))}
    return CycleReport(
        line=line,
        slots=ask_for(SlotLine, catalog, "slots", line.cycle_id),
        environments=tuple(
            _environment(row, scores.get(row["env_id"])) for row in ask(catalog, "environments", line.cycle_id)
        ),
        rejections=ask_for(Count, catalog, "rejections", line.cycle_id),
        outcomes=ask_for(OutcomeLine, catalog, "outcomes", line.cycle_id),
        stages=ask_for(StageLine, catalog, "stages", line.cycle_id),
        decisions=ask_for(DecisionLine, catalog, "decisions", line.cycle_id),
        datasets=ask_for(DatasetLine, catalog, "datasets", line.cycle_id),
    )


def share(part: int, whole: int) -> float | None:
    """A share, or None of nothing."""
    return part / whole if whole else None


def total(arms: Sequence[ArmScore]) -> ArmScore:
    """Several environments' plays of one arm as one arm; mean returns are left out."""
    measured, wins = sum(a.measured for a in arms), sum(a.wins for a in arms)
    return ArmScore(sum(a.asked for a in arms), measured, wins, share(wins, measured), None)


def _environment(row: dict[str, Any], score: Score | None) -> EnvironmentLine:
    return EnvironmentLine(
        **{name: row[name] for name in ("env_id", "slot_id", "title", "skill", "mechanic", "kept", "exported")},
        plain=_arm(row, "plain"),
        hinted=_arm(row, "hinted"),
        hint_note=_hint_note(row),
        score=score,
    )


def _arm(row: dict[str, Any], arm: str) -> ArmScore:
    asked, measured, wins = (row[f"{arm}_{name}"] for name in ("asked", "measured", "wins"))
    return ArmScore(asked, measured, wins, share(wins, measured), row[f"{arm}_return"])


def _hint_note(row: dict[str, Any]) -> str:
    if row["hints_accepted"]:
        return ""
    if row["hints"]:
        return f"no hint passed its gates; the last was stopped by {row['hint_gate']}"
    return "no hint was written"
