"""Plays a program through the sandbox port, in few round trips, and records what happened."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from spade.errors import Retry
from spade.gates.facts import Play, Player
from spade.outcomes import CallOutcome, Reply
from spade.ports import Game, Limits, Sandbox

FATAL = (CallOutcome.ENV_TIMEOUT, CallOutcome.ENV_PROTOCOL, CallOutcome.ENV_MEMORY)
MAX_DEATHS = 3
"""Processes of one seat that may die before its plays are given up; one that ran out of time counts twice."""


@dataclass(frozen=True, slots=True)
class Script:
    """One play to be made: from the first observation to the actions.

    `opening` is said before them and `after` once the episode has ended. Up to `again` further plays say what was left
    unsaid because the episode ended or failed before.
    """

    player: Player
    seed: int
    actions: Callable[[str], Sequence[str]]
    after: tuple[str, ...] = ()
    note: str = ""
    opening: tuple[str, ...] = ()
    again: int = 0


def saying(player: Player, seed: int, actions: Sequence[str], after: tuple[str, ...] = (), note: str = "") -> Script:
    """A script that says the same whatever it sees."""
    return Script(player, seed, lambda _: actions, after, note)


@dataclass(slots=True)
class _Log:
    """What one play has seen so far."""

    script: Script
    process: int
    sent: list[str] = field(default_factory=list)
    greeting: Reply | None = None
    steps: list[Reply] = field(default_factory=list)
    after: list[Reply] = field(default_factory=list)
    failure: Reply | None = None
    failed_at: str = ""

    @property
    def over(self) -> bool:
        steps = self.steps[-1].steps if self.steps else ()
        return self.failure is not None or (bool(steps) and (steps[-1].terminated or steps[-1].truncated))

    def record(self) -> Play:
        assert self.greeting is not None
        return Play(
            player=self.script.player,
            process=self.process,
            seed=self.script.seed,
            sent=tuple(self.sent),
            observation=self.greeting.observation,
            steps=tuple(step for reply in self.steps for step in reply.steps),
            after=tuple(step for reply in self.after for step in reply.steps),
            failure=self.failure,
            failed_at=self.failed_at,
            seconds=sum(reply.seconds for reply in self.steps),
            note=self.script.note,
        )


@dataclass(slots=True)
class Seat:
    """One process at a time that runs the program under one hash seed; a dead one is replaced."""

    sandbox: Sandbox
    code: str
    limits: Limits
    number: int
    game: Game | None = None
    opened: list[Reply] = field(default_factory=list)
    deaths: int = 0

    async def open(self) -> bool:
        """Whether the program is loaded and alive."""
        if self.game is not None:
            return True
        if self.deaths >= MAX_DEATHS:
            return False
        opened = await self.sandbox.open(self.code, self.limits, hash_seed=self.number % 2)
        _ours(opened.reply)
        self.opened.append(opened.reply)
        self.game = opened.game
        if self.game is None:
            self.deaths = MAX_DEATHS
        return self.game is not None

    async def greet(self, seed: int) -> Reply | None:
        """`reset`; None when no process can be had."""
        if not await self.open():
            return None
        assert self.game is not None
        return await self._noted(await self.game.reset(seed))

    async def solve(self, seed: int) -> tuple[Reply | None, Reply | None]:
        """`reset` and then `solution`, each None when it could not be asked."""
        greeting = await self.greet(seed)
        if greeting is None or not greeting.ok or self.game is None:
            return greeting, None
        return greeting, await self._noted(await self.game.solution())

    async def play(self, script: Script) -> Play | None:
        """One play from reset to end; None when no process can be had."""
        log = await self._begin(script)
        if log is None:
            return None
        if log.greeting is not None and log.greeting.ok:
            log.sent += [*script.opening, *script.actions(log.greeting.observation)]
            if log.sent and self.game is not None:
                log.steps.append(await self._noted(await self.game.steps(log.sent)))
                self._check(log, log.steps[-1], f"step {len(log.steps[-1].steps) + 1}")
            if log.over and log.failure is None:
                await self._overtime(log)
        return log.record()

    async def play_all(self, scripts: Iterable[Script]) -> list[Play]:
        plays: list[Play] = []
        waiting = deque(scripts)
        while waiting:
            script = waiting.popleft()
            play = await self.play(script)
            if play is None:
                break
            plays.append(play)
            left = _unsaid(script, play)
            if script.again and left:
                waiting.appendleft(replace(script, actions=partial(_said, left), again=script.again - 1))
        return plays

    async def echo(self, seed: int, turns: int) -> Play | None:
        """Each action is the observation before it."""
        log = await self._begin(saying(Player.ECHO, seed, ()))
        if log is None or log.greeting is None:
            return None
        last = log.greeting.observation
        while len(log.sent) < turns and not log.over and self.game is not None:
            log.sent.append(last)
            log.steps.append(await self._noted(await self.game.step(last)))
            self._check(log, log.steps[-1], f"step {len(log.sent)}")
            last = log.steps[-1].steps[-1].observation if log.steps[-1].steps else ""
        return log.record()

    async def close(self) -> None:
        if self.game is not None:
            await self.game.close()
            self.game = None

    async def _begin(self, script: Script) -> _Log | None:
        greeting = await self.greet(script.seed)
        if greeting is None:
            return None
        log = _Log(script, self.number, greeting=greeting)
        self._check(log, greeting, "reset")
        return log

    async def _overtime(self, log: _Log) -> None:
        """Steps after the end."""
        for action in log.script.after:
            if self.game is None or log.failure is not None:
                return
            log.after.append(await self._noted(await self.game.step(action)))
            self._check(log, log.after[-1], "a step after the end")

    async def _noted(self, reply: Reply) -> Reply:
        """The reply; a fatal one also costs the process."""
        _ours(reply)
        if reply.outcome in FATAL and self.game is not None:
            self.deaths += 2 if reply.outcome is CallOutcome.ENV_TIMEOUT else 1
            await self.close()
        return reply

    def _check(self, log: _Log, reply: Reply, where: str) -> None:
        if not reply.ok:
            log.failure, log.failed_at = reply, where


def _said(actions: tuple[str, ...], _: str) -> tuple[str, ...]:
    return actions


def _unsaid(script: Script, play: Play) -> tuple[str, ...]:
    """Actions that the episode did not come to; at least one was used up, so this ends."""
    used = len(play.steps) + (play.failure is not None)
    return () if play.won else play.sent[max(used, len(script.opening) + 1) :]


async def close_all(seats: Sequence[Seat]) -> None:
    await asyncio.gather(*(seat.close() for seat in seats))


def _ours(reply: Reply) -> None:
    """A sandbox that is lost says nothing of the program."""
    if reply.outcome is CallOutcome.SANDBOX_LOST:
        raise Retry(f"The sandbox was lost while an environment was judged: {reply.detail}")
