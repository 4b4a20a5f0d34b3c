"""What is stored of one cycle, at hand in memory: progress is what the catalog holds, so a killed run can go on."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

from data.catalog import Catalog
from spade.attempts import Attempt, Prompt
from spade.curation import Decision
from spade.environments import Environment
from spade.episodes import Episode
from spade.hints import Hint
from spade.scores import Score
from spade.slots import Cycle, Slot
from spade.summary import CycleRecords, CycleSummary


class CycleProgress:
    """Reads a cycle once, then keeps what this process adds: every `keep` is on disk before it is known here."""

    def __init__(self, catalog: Catalog, cycle: Cycle, slots: Sequence[Slot]) -> None:
        self.catalog = catalog
        self.cycle = cycle
        self.slots = tuple(slots)
        self._attempts: dict[str, list[Attempt]] = defaultdict(list)
        self._environments: dict[str, Environment] = {}
        self._hints: dict[str, list[Hint]] = defaultdict(list)
        self._episodes: dict[str, dict[str, Episode]] = defaultdict(dict)
        self._scores: dict[str, Score] = {}
        self._prompts: set[str] = set()

    @classmethod
    def load(cls, catalog: Catalog, cycle: Cycle, slots: Sequence[Slot]) -> Self:
        """The cycle as far as any process has come with it."""
        progress = cls(catalog, cycle, slots)
        for attempt in catalog.attempts(slot_id=[s.slot_id for s in slots]):
            progress._attempts[attempt.slot_id].append(attempt)
        accepted = [a.env_id for tried in progress._attempts.values() for a in tried if a.accepted]
        for environment in catalog.environments(env_id=accepted):
            progress._environments[environment.env_id] = environment
        for hint in catalog.hints(env_id=accepted):
            progress._hints[hint.env_id].append(hint)
        for episode in catalog.episodes(cycle_id=cycle.cycle_id):
            progress._episodes[episode.asked.env_id][episode.episode_id] = episode
        for score in catalog.scores(cycle_id=cycle.cycle_id):
            progress._scores[score.env_id] = score
        return progress

    def attempts(self, slot_id: str) -> list[Attempt]:
        return sorted(self._attempts[slot_id], key=lambda attempt: attempt.number)

    def environment(self, env_id: str) -> Environment:
        return self._environments[env_id]

    def environments(self) -> list[Environment]:
        return list(self._environments.values())

    def accepted(self) -> list[str]:
        """Ids of the environments that were designed in this cycle; those played again are not among them."""
        return list(dict.fromkeys(a.env_id for tried in self._attempts.values() for a in tried if a.accepted))

    def hints(self, env_id: str) -> list[Hint]:
        return sorted(self._hints[env_id], key=lambda hint: hint.number)

    def episodes(self, env_id: str) -> list[Episode]:
        return sorted(self._episodes[env_id].values(), key=lambda e: (e.asked.round, e.asked.arm, e.asked.play))

    def all_episodes(self) -> list[Episode]:
        return [episode for env_id in self._episodes for episode in self.episodes(env_id)]

    def is_done(self, slot_id: str, retries: int) -> bool:
        """Whether nothing more is to be made of a slot: its environment is scored, or every attempt was refused."""
        tried = self._attempts[slot_id]
        accepted = next((a for a in tried if a.accepted), None)
        return len(tried) > retries if accepted is None else accepted.env_id in self._scores

    def stored_plays(self, slot_id: str) -> int:
        """How many episodes there are of a slot's accepted environment."""
        return sum(len(self._episodes[a.env_id]) for a in self._attempts[slot_id] if a.accepted)

    def score(self, env_id: str) -> Score | None:
        return self._scores.get(env_id)

    def scores(self) -> list[Score]:
        return list(self._scores.values())

    async def keep_prompt(self, prompt: Prompt) -> None:
        if prompt.prompt_id not in self._prompts:
            await self._append("prompts", [prompt])
            self._prompts.add(prompt.prompt_id)

    async def keep_attempt(self, attempt: Attempt) -> None:
        await self._append("attempts", [attempt])
        self._attempts[attempt.slot_id].append(attempt)

    async def keep_environment(self, environment: Environment) -> None:
        await self._append("environments", [environment])
        self._environments[environment.env_id] = environment

    async def keep_hint(self, hint: Hint) -> None:
        await self._append("hints", [hint])
        self._hints[hint.env_id].append(hint)

    async def keep_episodes(self, episodes: Sequence[Episode]) -> None:
        await self._append("episodes", episodes)
        for episode in episodes:
            self._episodes[episode.asked.env_id][episode.episode_id] = episode

    async def keep_score(self, score: Score) -> None:
        await self._append("scores", [score])
        self._scores[score.env_id] = score

    async def keep_decisions(self, decisions: Sequence[Decision]) -> None:
        await self._append("decisions", decisions)

    async def _append(self, table: str, records: Sequence[Any]) -> None:
        """In a thread: the loop plays on while the disk is waited for."""
        await asyncio.to_thread(self.catalog.append, table, records)

    def records(self) -> CycleRecords:
        """Everything stored of the cycle, for its summary."""
        accepted = [a.env_id for tried in self._attempts.values() for a in tried if a.accepted]
        return CycleRecords(
            cycle_id=self.cycle.cycle_id,
            number=self.cycle.number,
            attempts={slot.slot_id: self.attempts(slot.slot_id) for slot in self.slots},
            hints=[hint for env_id in accepted for hint in self.hints(env_id)],
            episodes=self.all_episodes(),
            scores=self.scores(),
            skills=len({self._environments[env_id].skill for env_id in accepted}),
        )

    async def keep_summary(self, summary: CycleSummary) -> None:
        await self._append("summaries", [summary])
