"""What the report says of one environment, and of one slot that never came to one: its chain from document to rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from data.catalog import Catalog
from data.report.asking import ask
from data.report.cycles import CycleLine, CycleReport, EnvironmentLine, SlotLine
from spade.attempts import Attempt, Prompt
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Episode
from spade.hints import Hint
from spade.scores import Score
from spade.verdicts import Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ended:
    """How one play ended, without its turns."""

    episode_id: str
    outcome: str
    return_: float | None
    won: bool | None
    turns: int
    detail: str


@dataclass(frozen=True, slots=True)
class Pair:
    """The plays of both arms on one seed; None where an arm was not played."""

    round: int
    play: int
    seed: int
    plain: Ended | None
    hinted: Ended | None

    @property
    def difference(self) -> float | None:
        """Hinted less plain return, where both were measured."""
        if self.plain is None or self.hinted is None or self.plain.return_ is None or self.hinted.return_ is None:
            return None
        return self.hinted.return_ - self.plain.return_


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer of a model with the prompt that asked for it; None where the prompt is not stored."""

    answer: Attempt | Hint
    prompt: Prompt | None


@dataclass(frozen=True, slots=True)
class SlotPage:
    """A slot with every attempt at it."""

    cycle: CycleLine
    slot: SlotLine
    document: Document | None
    attempts: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentPage:
    """An accepted environment with all that led to it and all that came of it in one cycle."""

    chain: SlotPage
    line: EnvironmentLine
    environment: Environment
    verdicts: tuple[Verdict, ...]
    """Those that stand alone: given after the attempt was judged."""
    hints: tuple[Asked, ...]
    scores: tuple[Score, ...]
    pairs: tuple[Pair, ...]
    transcripts: tuple[Episode, ...]
    decisions: tuple[dict[str, Any], ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def hint_text(self) -> str:
        """The hint that was played with, or nothing."""
        return next((h.answer.text for h in self.hints if isinstance(h.answer, Hint) and h.answer.accepted), "")


@dataclass(frozen=True)
class CyclePages:
    """The pages of one cycle. Each table is asked once a cycle, not once a page."""

    catalog: Catalog
    report: CycleReport

    @cached_property
    def _documents(self) -> dict[str, Document]:
        wanted = [slot.document_id for slot in self.report.slots]
        return {document.document_id: document for document in self.catalog.documents(document_id=wanted)}

    @cached_property
    def _attempts(self) -> dict[str, list[Attempt]]:
        stored = self.catalog.attempts(slot_id=[slot.slot_id for slot in self.report.slots])
        return _grouped(sorted(stored, key=lambda attempt: attempt.number), lambda attempt: attempt.slot_id)

    @cached_property
    def _hints(self) -> dict[str, list[Hint]]:
        stored = self.catalog.hints(env_id=[line.env_id for line in self.report.environments])
        return _grouped(sorted(stored, key=lambda hint: hint.number), lambda hint: hint.env_id)

    @cached_property
    def _prompts(self) -> dict[str, Prompt]:
        of_attempts = [a.prompt_id for a in chain.from_iterable(self._attempts.values())]
        of_hints = [h.prompt_id for h in chain.from_iterable(self._hints.values())]
        wanted = list(dict.fromkeys(of_attempts + of_hints))
        return {prompt.prompt_id: prompt for prompt in self.catalog.prompts(prompt_id=wanted)}

    def slots(self) -> Iterator[SlotPage]:
        """Pages of slots without an environment."""
        return (self._chain(slot) for slot in self.report.slots if not slot.env_id)

    def environments(self) -> Iterator[EnvironmentPage]:
        """Pages of accepted environments."""
        made, cycle_id = [line.env_id for line in self.report.environments], self.report.line.cycle_id
        slots = {slot.slot_id: slot for slot in self.report.slots}
        programs = {e.env_id: e for e in self.catalog.environments(env_id=made)}
        verdicts = _grouped(self.catalog.verdicts(subject_id=made), lambda judged: judged.subject_id)
        scores = _grouped(self.catalog.scores(cycle_id=cycle_id), lambda score: score.env_id)
        plays, decided, rows = (
            _grouped(ask(self.catalog, name, cycle_id), lambda row: row["env_id"])
            for name in ("plays", "decided", "membership")
        )
        pairs = {env_id: _pairs(plays.get(env_id, [])) for env_id in made}
        wanted = {env_id: telling(pairs[env_id]) for env_id in made}
        stored = self.catalog.episodes(episode_id=[i for ids in wanted.values() for i in ids])
        episodes = {episode.episode_id: episode for episode in stored}
        for line in self.report.environments:
            yield EnvironmentPage(
                chain=self._chain(slots[line.slot_id]),
                line=line,
                environment=programs[line.env_id],
                verdicts=tuple(judged.verdict for judged in verdicts.get(line.env_id, [])),
                hints=self._asked(self._hints.get(line.env_id, [])),
                scores=tuple(scores.get(line.env_id, [])),
                pairs=pairs[line.env_id],
                transcripts=tuple(episodes[i] for i in wanted[line.env_id] if i in episodes),
                decisions=tuple(decided.get(line.env_id, [])),
                rows=tuple(rows.get(line.env_id, [])),
            )

    def _chain(self, slot: SlotLine) -> SlotPage:
        attempts = self._asked(self._attempts.get(slot.slot_id, []))
        return SlotPage(self.report.line, slot, self._documents.get(slot.document_id), attempts)

    def _asked(self, answers: Sequence[Attempt | Hint]) -> tuple[Asked, ...]:
        return tuple(Asked(answer, self._prompts.get(answer.prompt_id)) for answer in answers)


def telling(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The one or two plays worth reading: a seed on which the arms ended differently, best one that only the hinted arm
    won; else the first plain win and the first plain loss; else the first play of all."""
    by_gain = sorted((p for p in pairs if p.difference), key=lambda p: -(p.difference or 0.0))
    if by_gain and by_gain[0].plain and by_gain[0].hinted:
        return by_gain[0].plain.episode_id, by_gain[0].hinted.episode_id
    plain = [p.plain for p in pairs if p.plain is not None]
    chosen = [next((e for e in plain if e.won is wanted), None) for wanted in (True, False)]
    found = tuple(e.episode_id for e in chosen if e is not None)
    return found or tuple(e.episode_id for p in pairs for e in (p.plain, p.hinted) if e is not None)[:1]


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """The items by key, in their order."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _pairs(plays: Sequence[dict[str, Any]]) -> tuple[Pair, ...]:
    by_seed: dict[tuple[int, int, int], dict[str, Ended]] = {}
    for play in plays:
        ended = Ended(*(play[n] for n in ("episode_id", "outcome", "return", "won", "n_turns", "detail")))
        by_seed.setdefault((play["round"], play["play"], play["seed"]), {})[play["arm"]] = ended
    return tuple(Pair(*key, arms.get(Arm.PLAIN), arms.get(Arm.HINTED)) for key, arms in sorted(by_seed.items()))
