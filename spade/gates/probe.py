"""Plays a program through the sandbox port, in few round trips, and records what happened."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from spade.errors import Retry
from spade.gates.facts import Play, Player
from spade.gates.script import Log, Script, asks_of, log_of, saying
from spade.outcomes import CallOutcome, Reply
from spade.ports import Ask, BundleGame, Game, Limits, Sandbox

FATAL = (CallOutcome.ENV_TIMEOUT, CallOutcome.ENV_PROTOCOL, CallOutcome.ENV_MEMORY)
MAX_DEATHS = 3
"""Processes of one seat that may die before its plays are given up; one that ran out of time counts twice."""


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
    greetings: dict[int, str] = field(default_factory=dict)
    """First observations as last seen, for scripts that depend on them."""
    one_by_one: bool = False
    """After several calls together ran out of time: only single ones tell which it was."""

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
        greeting = await self._noted(await self.game.reset(seed))
        self.greetings[seed] = greeting.observation
        return greeting

    async def solve_all(self, seeds: Sequence[int]) -> dict[int, tuple[Reply | None, Reply | None]]:
        """`reset` and then `solution` of each instance, None where it could not be asked: none after one that fails."""
        if isinstance(self.game, BundleGame):
            asks = [ask for seed in seeds for ask in (Ask("reset", seed=seed), Ask("solution"))]
            replies = list(await self.game.ask_many(asks))
            if len(replies) == len(asks) and all(reply.ok for reply in replies):
                self.greetings |= {seed: reply.observation for seed, reply in zip(seeds, replies[::2], strict=True)}
                return dict(zip(seeds, zip(replies[::2], replies[1::2], strict=True), strict=True))
            await self.close()
        found: dict[int, tuple[Reply | None, Reply | None]] = {}
        for seed in seeds:
            failing = any(solution is not None and not solution.ok for _, solution in found.values())
            greeting = await self.greet(seed)
            solution = None
            if not failing and greeting is not None and greeting.ok and self.game is not None:
                solution = await self._noted(await self.game.solution())
            found[seed] = (greeting, solution)
        return found

    async def play_all(self, scripts: Iterable[Script]) -> list[Play]:
        """The plays in order of the scripts; those that say what was left unsaid follow at the end."""
        plays: list[Play] = []
        waiting = list(scripts)
        while waiting and await self.open():
            together = isinstance(self.game, BundleGame) and not self.one_by_one
            made = await (self._play_together(waiting) if together else self._play_singly(waiting[:1]))
            plays += made
            further = [more for script, play in zip(waiting, made, strict=False) if (more := _unsaid(script, play))]
            waiting = [*waiting[len(made) :], *further]
        return plays

    async def echo(self, seed: int, turns: int) -> Play | None:
        """Each action is the observation before it."""
        greeting = await self.greet(seed)
        if greeting is None:
            return None
        log = Log(saying(Player.ECHO, seed, ()), self.number, greeting)
        last = greeting.observation
        while len(log.sent) < turns and not log.over and self.game is not None:
            log.sent.append(last)
            log.take_steps(await self._noted(await self.game.step(last)))
            last = log.steps[-1].steps[-1].observation if log.steps[-1].steps else ""
        return log.record()

    async def close(self) -> None:
        if self.game is not None:
            await self.game.close()
            self.game = None

    async def _play_together(self, scripts: Sequence[Script]) -> list[Play]:
        """As many of the plays as one bundle makes. None of them when it ran out of time: then singly, from now on."""
        assert isinstance(self.game, BundleGame)
        unknown = list(dict.fromkeys(s.seed for s in scripts if not s.fixed and s.seed not in self.greetings))
        if unknown:
            asks = [ask for seed in unknown for ask in asks_of(saying(Player.PROBE, seed, ()), ())]
            for seed, reply in zip(unknown, await self.game.ask_many(asks), strict=False):
                self.greetings[seed] = reply.observation
        said = [script.said(self.greetings.get(script.seed, "")) for script in scripts]
        bundles = [asks_of(script, actions) for script, actions in zip(scripts, said, strict=True)]
        replies = list(await self.game.ask_many([ask for asks in bundles for ask in asks]))
        if replies and replies[-1].outcome is CallOutcome.ENV_TIMEOUT:
            self.one_by_one = True
            await self.close()
            return []
        plays: list[Play] = []
        for script, actions, asks in zip(scripts, said, bundles, strict=True):
            if not replies:
                break
            mine, replies = replies[: len(asks)], replies[len(asks) :]
            for reply in mine:
                await self._noted(reply)
            plays.append(log_of(script, self.number, actions, mine).record())
        return plays

    async def _play_singly(self, scripts: Sequence[Script]) -> list[Play]:
        """One play, a call at a time."""
        script = scripts[0]
        greeting = await self.greet(script.seed)
        if greeting is None:
            return []
        log = Log(script, self.number, greeting)
        if greeting.ok and self.game is not None:
            log.sent += script.said(greeting.observation)
            if log.sent:
                log.take_steps(await self._noted(await self.game.steps(log.sent)))
            for action in script.after:
                if self.game is None or log.failure is not None or not log.over:
                    break
                log.take_after(await self._noted(await self.game.step(action)))
        return [log.record()]

    async def _noted(self, reply: Reply) -> Reply:
        """The reply; a fatal one also costs the process."""
        _ours(reply)
        if reply.outcome in FATAL and self.game is not None:
            self.deaths += 2 if reply.outcome is CallOutcome.ENV_TIMEOUT else 1
            await self.close()
        return reply


async def close_all(seats: Sequence[Seat]) -> None:
    await asyncio.gather(*(seat.close() for seat in seats))


def _unsaid(script: Script, play: Play) -> Script | None:
    """The script of a further play for the actions that the episode did not come to; at least one was used up."""
    used = len(play.steps) + (play.failure is not None)
    left = play.sent[max(used, len(script.opening) + 1) :]
    if not script.again or play.won or not left:
        return None
    return replace(script, actions=partial(_said, left), fixed=True, again=script.again - 1)


def _said(actions: tuple[str, ...], _: str) -> tuple[str, ...]:
    return actions


def _ours(reply: Reply) -> None:
    """A sandbox that is lost says nothing of the program."""
    if reply.outcome is CallOutcome.SANDBOX_LOST:
        raise Retry(f"The sandbox was lost while an environment was judged: {reply.detail}")
