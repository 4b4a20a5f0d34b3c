"""The ports `Sandbox` and `Game` over the local sandbox, on whatever event loop is running."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.bundles import ask_many
from sandbox.driver import frames
from sandbox.games import LocalGame, encode
from sandbox.launching import Kind
from sandbox.local import LocalSandbox
from sandbox.watching import Line, Watch, watch
from spade.outcomes import Reply
from spade.ports import Ask, IsolationLevel, Limits, Opened


class AsyncGame:
    """`spade.ports.Game`. Belongs to the loop that opened it; a cancelled call ends it."""

    def __init__(self, core: LocalGame, owner: Watch) -> None:
        self.core = core
        self.owner = owner
        self.line = Line(owner, core.child.channel.fileno())
        self.counted = True
        owner.games += 1
        core.child.on_close = self.released

    async def reset(self, seed: int) -> Reply:
        return await self.ask(frames.RESET, frames.SEED.pack(seed))

    async def step(self, action: str) -> Reply:
        return await self.ask(frames.PLAY, encode(action))

    async def steps(self, actions: Sequence[str]) -> Reply:
        return await self.owner.drive(self.core.play_many(actions), self.line)

    async def ask_many(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        return await self.owner.drive(ask_many(self.core, asks), self.line)

    async def solution(self) -> Reply:
        return await self.ask(frames.SOLVE, b"")

    async def close(self) -> None:
        await self.owner.drive(self.core.closing(), self.line)

    async def ask(self, kind: int, body: bytes) -> Reply:
        if self.owner.games > 1:
            self.core.place.crowd = self.owner.crowd()
            return await self.owner.drive(self.core.asking(kind, body), self.line)
        begun = self.core.begin(kind, body)
        if isinstance(begun, Reply):
            await self.owner.breathe()
            return begun
        return await self.owner.drive(begun, self.line)

    def released(self) -> None:
        self.line.drop()
        if self.counted:
            self.counted = False
            self.owner.games -= 1


class AsyncSandbox:
    """`spade.ports.Sandbox`. Usable from several loops and threads at once."""

    def __init__(self, core: LocalSandbox, level: IsolationLevel, report: Mapping[str, Any]) -> None:
        self.core = core
        self._level = level
        self._report = dict(report)

    @property
    def level(self) -> IsolationLevel:
        return self._level

    def report(self) -> Mapping[str, Any]:
        return self._report

    async def open(self, program: str, limits: Limits, *, hash_seed: int = 0) -> Opened:
        """See `spade.ports.Sandbox.open`."""
        owner = watch()
        async with owner.openings:
            kind = Kind.of(program, hash_seed)
            if not self.core.running(kind):
                await asyncio.to_thread(self.core.zygote, kind)
            reply, game = await owner.drive(self.core.opening(program, limits, hash_seed))
        return Opened(reply, AsyncGame(game, owner) if game is not None else None)
