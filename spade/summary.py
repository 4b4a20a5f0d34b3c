"""What a finished cycle came to: the numbers people look at first. Stored once, when everything else of it is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spade.attempts import Attempt
from spade.curriculum import Curriculum
from spade.episodes import Arm, Episode
from spade.feedback import exhausted
from spade.hints import Hint
from spade.messages import Usage
from spade.scores import Score

BAND = (0.2, 0.8)
"""The learnable band of win rates (arXiv 2608.19197)."""


@dataclass(frozen=True, slots=True)
class CycleSummary:
    """Counts and means of one cycle. Means are None where nothing was measured; `cost` where no price is known.

    `rejections` counts refused attempts by gate; `dropped` slots whose every attempt was refused, `exhausted` these by
    the gate that refused most of them; `outcomes` counts episodes by outcome; `rows` are those of the exported dataset,
    empty `dataset_id` when there is none.
    """

    cycle_id: str
    number: int
    slots: int
    attempts: int
    accepted: int
    first_try: int
    dropped: int
    hinted: int
    skills: int
    episodes: int
    measured: int
    wins_plain: int
    wins_hinted: int
    win_rate_plain: float | None
    win_rate_hinted: float | None
    regret: float | None
    in_band: int
    rows: int
    dataset_id: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float
    rejections: tuple[tuple[str, int], ...] = ()
    exhausted: tuple[tuple[str, int], ...] = ()
    outcomes: tuple[tuple[str, int], ...] = ()
    curriculum: Curriculum = field(default_factory=Curriculum)


@dataclass(frozen=True, slots=True)
class CycleRecords:
    """Everything a cycle left behind, as the summary reads it. `skills` are those of the accepted environments."""

    cycle_id: str
    number: int
    attempts: Mapping[str, Sequence[Attempt]]
    hints: Sequence[Hint]
    episodes: Sequence[Episode]
    scores: Sequence[Score]
    skills: int


def summarise(records: CycleRecords, *, rows: int, dataset_id: str, seconds: float) -> CycleSummary:
    """The summary of one cycle; `seconds` is the wall time of the sitting that finished it."""
    attempts = [a for tried in records.attempts.values() for a in tried]
    accepted = [a for a in attempts if a.accepted]
    plain = [e for e in records.episodes if e.asked.arm is Arm.PLAIN]
    hinted = [e for e in records.episodes if e.asked.arm is Arm.HINTED]
    regrets = [s.regret for s in records.scores if s.regret is not None]
    rates = [s.plain.win_rate for s in records.scores if s.plain.win_rate is not None]
    usage = _usage(attempts, records.hints, records.episodes)
    return CycleSummary(
        cycle_id=records.cycle_id,
        number=records.number,
        slots=len(records.attempts),
        attempts=len(attempts),
        accepted=len(accepted),
        first_try=sum(a.number == 0 for a in accepted),
        dropped=len(records.attempts) - len(accepted),
        hinted=len({h.env_id for h in records.hints if h.accepted}),
        skills=records.skills,
        episodes=len(records.episodes),
        measured=sum(e.outcome.measured for e in records.episodes),
        wins_plain=sum(bool(e.won) for e in plain),
        wins_hinted=sum(bool(e.won) for e in hinted),
        win_rate_plain=_win_rate(plain),
        win_rate_hinted=_win_rate(hinted),
        regret=fmean(regrets) if regrets else None,
        in_band=sum(BAND[0] <= rate <= BAND[1] for rate in rates),
        rows=rows,
        dataset_id=dataset_id,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost,
        seconds=seconds,
        rejections=_counted(a.rejected_by for a in attempts if a.rejected_by),
        exhausted=_counted(exhausted(t) for t in records.attempts.values() if t and not any(a.accepted for a in t)),
        outcomes=_counted(e.outcome.value for e in records.episodes),
    )


def _win_rate(episodes: Sequence[Episode]) -> float | None:
    measured = [e for e in episodes if e.won is not None]
    return sum(bool(e.won) for e in measured) / len(measured) if measured else None


def _usage(attempts: Sequence[Attempt], hints: Sequence[Hint], episodes: Sequence[Episode]) -> Usage:
    return sum(
        [*(a.completion.usage for a in attempts), *(h.completion.usage for h in hints), *(e.usage for e in episodes)],
        Usage(),
    )


def _counted(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Most frequent first, then by name."""
    return tuple(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
