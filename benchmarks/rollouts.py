"""Rollouts of a counting game by a scripted model: what several benchmarks play, store and weigh."""

import asyncio

from data.catalog import Catalog
from spade.episodes import Arm, Asked, Episode, ModelPolicy, play
from spade.messages import Completion, Request, Sampling, Usage
from spade.ports import Limits, Model, Sandbox

STORE_EVERY = 256
PROGRAM = '''
import random

class CountingEnv:
    """Ends after LENGTH turns, or after 2 to 18 of them where LENGTH is 0."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.left = LENGTH or rng.randint(2, 18)
        return f"{self.left} turns to go. Say next.", {}

    def step(self, action):
        self.left -= 1
        won = self.left <= 0
        return f"{self.left} turns to go.", float(won), won, False, {}
'''


class Instant:
    """Answers at once: what is left is the engine's own time."""

    name = weights = "instant"

    async def complete(self, request: Request) -> Completion:
        return Completion("I go on. \\boxed{next}", self.name, self.weights, usage=Usage(100, 8))


async def rollout(sandbox: Sandbox, model: Model, number: int, length: int) -> Episode:
    opened = await sandbox.open(PROGRAM.replace("LENGTH", str(length)), Limits())
    if opened.game is None:
        raise SystemExit(f"the game does not open: {opened.reply.detail}")
    asked = Asked("cycle-bench", f"env-{number % 24}", 0, Arm.PLAIN, number, number)
    try:
        return await play(opened.game, ModelPolicy(model, Sampling(seed=number)), asked, "Play.", max_turns=25)
    finally:
        await opened.game.close()


class Store:
    """Episodes on their way to disk, some hundred at a time and in a thread, as the factory keeps them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog, self._waiting = catalog, list[Episode]()
        self.stored = self.turns = 0

    async def add(self, episode: Episode) -> None:
        self._waiting.append(episode)
        self.turns += len(episode.turns)
        if len(self._waiting) >= STORE_EVERY:
            await self.flush()

    async def flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            await asyncio.to_thread(self._catalog.append, "episodes", batch)
        self.stored += len(batch)
