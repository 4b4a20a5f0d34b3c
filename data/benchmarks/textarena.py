"""TextArena: games for one player over many turns, with the package's own rewards."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.benchmarks.packages import TEXTARENA, greeted, python_of
from data.benchmarks.worker import Workers
from spade.boxes import without_thoughts
from spade.evaluating import Talk, opening
from spade.evaluation import Mark, Protocol, Question, SampleOutcome, SuiteCard
from spade.identity import seed_for

SYSTEM = (
    "You are a competitive game player. Make sure you read the game instructions carefully, and always follow the "
    "required format."
)
"""The package's own prompt for its agents."""
PER_GAME = 4


@dataclass
class TextArena:
    """The suite: each task is a game with a seed."""

    environments: Path
    processes: int = 4
    _workers: Workers | None = None

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="textarena",
            version=TEXTARENA.version,
            title="TextArena, one player",
            source="package textarena (arXiv 2504.11442)",
            licence="MIT",
            about="21 games for one player, from 2048 to the Tower of Hanoi; a move is what stands in square brackets",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            max_tokens=4096,
            turns=50,
            system=SYSTEM,
            extraction="none: the game reads the reply without its thoughts",
            metric="mean of the game's own reward, cut to [0, 1]; 0 where a word stands for it or the turns ran out",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """Each game with `tasks` seeds, `PER_GAME` when None."""
        said = await greeted(self._calls(), TEXTARENA)
        return [
            Question(f"{game}/{n}", game, {"game": game, "seed": seed_for(seed, "textarena", game, n)})
            for game in said["games"]
            for n in range(PER_GAME if tasks is None else tasks)
        ]

    async def prompt(self, question: Question) -> str:
        return str(await self._calls().call("first", **question.content))

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        async def answering(seen: dict[str, Any]) -> dict[str, Any]:
            completion = await talk.ask(opening(talk.protocol, seen["observation"]))
            return {"text": without_thoughts(completion.text).strip()}

        said = await self._calls().call("attempt", answering, turns=talk.protocol.turns, **question.content)
        why = str(said["info"].get("reason", "")) if said["done"] else f"not over after {said['moves']} turns"
        outcome = SampleOutcome.SCORED if said["done"] else SampleOutcome.CUT_SHORT
        score = min(max(float(said["reward"]), 0.0), 1.0) if said["done"] else 0.0
        return Mark(score, talk.replies[-1] if talk.replies else "", outcome, why)

    async def aclose(self) -> None:
        if self._workers is not None:
            await self._workers.aclose()

    def _calls(self) -> Workers:
        if self._workers is None:
            self._workers = Workers(python_of(TEXTARENA, self.environments), TEXTARENA.script, self.processes)
        return self._workers
