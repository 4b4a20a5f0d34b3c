"""Many plays of one program in one sandboxed process: each step replays its play from the seed, all in one round trip.

Right for programs that the gates found deterministic, and far cheaper than a process a play.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from spade.outcomes import CallOutcome, Reply
from spade.ports import Ask, BundleGame, Game, Limits, Sandbox


@dataclass(eq=False)
class SharedProgram:
    """One open program. Calls made in one turn of the event loop travel together."""

    game: Game
    waiting: list[tuple["SharedGame", asyncio.Future[Reply]]] = field(default_factory=list)
    busy: bool = False

    async def ask(self, play: "SharedGame") -> Reply:
        done: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.waiting.append((play, done))
        if not self.busy:
            self.busy = True
            asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(self._travel()))
        return await done

    async def _travel(self) -> None:
        assert isinstance(self.game, BundleGame)
        while self.waiting:
            now, self.waiting = self.waiting, []
            asks: list[Ask] = []
            for play, _ in now:
                asks.append(Ask("reset", seed=play.seed))
                asks += [Ask("steps", actions=tuple(play.actions))] if play.actions else []
            replies = list(await self.game.ask_many(asks))
            lost = Reply(CallOutcome.SANDBOX_LOST, detail="an earlier call of the bundle ended the program")
            for play, done in now:
                own = [replies.pop(0) if replies else lost for _ in range(2 if play.actions else 1)]
                done.set_result(next((r for r in own if not r.ok), own[-1]))
        self.busy = False


@dataclass(eq=False)
class SharedGame:
    """One play as a `spade.ports.Game`."""

    program: SharedProgram
    seed: int = 0
    actions: list[str] = field(default_factory=list)

    async def reset(self, seed: int) -> Reply:
        self.seed, self.actions = seed, []
        return await self.program.ask(self)

    async def step(self, action: str) -> Reply:
        self.actions.append(action)
        reply = await self.program.ask(self)
        return Reply(reply.outcome, steps=reply.steps[-1:], detail=reply.detail, seconds=reply.seconds)

    async def steps(self, actions: Sequence[str]) -> Reply:
        raise NotImplementedError("plays step one by one")

    async def solution(self) -> Reply:
        raise NotImplementedError("for the gates, which have a game of their own")

    async def close(self) -> None:
        return None


class Programs:
    """Open programs by code, the latest `most` of them."""

    def __init__(self, sandbox: Sandbox, most: int = 96) -> None:
        self.sandbox, self.most = sandbox, most
        self._open: dict[str, SharedProgram] = {}

    async def of(self, code: str) -> SharedProgram:
        """The program, opened when it is not; the longest unused one is closed when there are too many."""
        if code in self._open:
            self._open[code] = self._open.pop(code)
            return self._open[code]
        opened = await self.sandbox.open(code, Limits(wall_seconds=20.0, cpu_seconds=600.0))
        if opened.game is None:
            raise RuntimeError(f"a program that passed the gates does not open: {opened.reply.detail}")
        self._open[code] = SharedProgram(opened.game)
        while len(self._open) > self.most:
            oldest = next(iter(self._open))
            await self._open.pop(oldest).game.close()
        return self._open[code]

    async def close(self) -> None:
        for program in self._open.values():
            await program.game.close()
        self._open.clear()
