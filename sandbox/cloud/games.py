"""A game on a rented machine. When the machine dies, the game goes on where it was, on another one."""

import time
from collections.abc import Sequence

from sandbox.cloud.dealing import MachineLost
from sandbox.cloud.fleet import Fleet
from sandbox.cloud.machine import Machine
from sandbox.cloud.runs import Record, Run
from sandbox.cloud.wire import asking, check_replies, opening, portion
from sandbox.games import ALIVE
from sandbox.patience import CAP
from sandbox.replies import BadFrame
from spade.errors import Retry, SpadeError
from spade.outcomes import CallOutcome, Reply
from spade.ports import Ask, Limits

MOST_DEATHS = 2
"""Machines that one game may lose: a program that brings its machine down must not bring down all."""
JOURNEY = 30.0
"""Seconds that an answer may take besides the program's own time."""
LOADING = Ask("reset")
"""What a reply to the loading of a program may look like."""


class CloudGame:
    """One program: one call at a time, on the fleet's event loop."""

    def __init__(self, fleet: Fleet, program: str, limits: Limits, hash_seed: int) -> None:
        self.fleet = fleet
        self.program = program
        self.limits = limits
        self.hash_seed = hash_seed
        self.machine: Machine | None = None
        self.number = 0
        self.deaths = 0
        self.record = Record()
        self.ended: Reply | None = None
        """The fatal outcome, once there is one; every later call answers it."""

    async def open(self) -> Reply:
        """Load the program; while nothing has been played it is simply tried elsewhere when a machine fails.

        Raises `Retry` or `Abort` when there is no machine to load it on.
        """
        started = time.monotonic()
        try:
            reply = await self.load()
        except BaseException:
            self.leave()
            raise
        if not reply.ok:
            self.leave()
        return Reply(reply.outcome, detail=reply.detail, seconds=time.monotonic() - started)

    async def load(self) -> Reply:
        """The reply of the first machine that gives one."""
        while True:
            self.machine, self.number = await self.fleet.seat(), self.fleet.number()
            try:
                if "math_verify" in self.program:
                    await self.machine.with_libraries()
                request = opening(self.number, self.program, self.limits, self.hash_seed)
                line = await self.machine.ask(request, self.patience(1) + self.fleet.pace.start)
                return self.checked([LOADING], line.replies, line.lost)[0]
            except MachineLost as error:
                if self.bereft():
                    raise Retry(f"E2B's machines were lost while loading a program: {error}") from error

    def patience(self, calls: int) -> float:
        """Seconds after which a machine that has not answered is given up. The program's own deadline is kept on the
        machine, and stretches where that is overloaded (`sandbox.patience`)."""
        return CAP * self.limits.wall_seconds * calls + JOURNEY

    def bereft(self) -> bool:
        """Leave a lost machine. Answers whether it was one too many."""
        self.leave()
        self.deaths += 1
        return self.deaths > MOST_DEATHS

    def leave(self) -> None:
        if self.machine is not None:
            self.fleet.leave(self.machine, self.number)
            self.machine = None

    async def ask_many(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        """See `spade.ports.BundleGame.ask_many`. What a lost machine has not answered is asked again after a replay."""
        started = time.monotonic()
        run = Run(asks)
        try:
            while run.rest and self.ended is None:
                try:
                    await self.advance(run, self.record)
                except MachineLost as error:
                    await self.revive(error)
        except BaseException:
            self.end(Reply(CallOutcome.SANDBOX_LOST, detail="a call was cancelled"))
            raise
        if run.rest and self.ended is not None:
            run.finish(self.ended)
        elif run.replies and run.replies[-1].outcome not in ALIVE:
            last = run.replies[-1]
            self.end(Reply(last.outcome, detail=last.detail))
        return run.timed(time.monotonic() - started)

    async def advance(self, run: Run, record: Record) -> None:
        """Ask for as much as one line holds. Raises `MachineLost`."""
        if self.machine is None:
            raise MachineLost("it has been closed")
        chosen = portion(run.rest)
        line = await self.machine.ask(asking(self.number, chosen), self.patience(len(chosen)))
        got = self.checked(chosen, line.replies, line.lost)
        record.note(chosen, got)
        run.take(got)

    def checked(self, asks: Sequence[Ask], replies: Sequence[Reply], lost: str) -> Sequence[Reply]:
        """The replies, if they are any. A machine that answers nonsense is given up; one whose own sandbox failed is
        left by this game alone. Raises `MachineLost`."""
        if lost:
            raise MachineLost(lost)
        try:
            check_replies(asks, replies)
        except BadFrame as error:
            assert self.machine is not None
            self.machine.fail(f"it broke the protocol: {error}")
            raise MachineLost(self.machine.lost) from error
        for reply in replies:
            if reply.outcome is CallOutcome.SANDBOX_LOST:
                raise MachineLost(reply.detail)
        return replies

    async def revive(self, error: MachineLost) -> None:
        """Play everything since the last reset once more on another machine, and see that the same comes of it."""
        while self.ended is None:
            if self.bereft():
                return self.end(Reply(CallOutcome.SANDBOX_LOST, detail=f"its machines were lost: {error}"))
            try:
                again = Record()
                reply = await self.load()
                run = Run(self.record.asks)
                while reply.ok and run.rest:
                    await self.advance(run, again)
                if reply.ok and again.same_as(self.record):
                    return
                return self.end(Reply(CallOutcome.SANDBOX_LOST, detail="its machine was lost and it plays differently"))
            except MachineLost as another:
                error = another
            except SpadeError as none:
                return self.end(Reply(CallOutcome.SANDBOX_LOST, detail=f"its machine was lost: {none}"))

    def end(self, reply: Reply) -> None:
        self.ended = self.ended or reply
        self.leave()

    async def close(self) -> None:
        self.end(Reply(CallOutcome.SANDBOX_LOST, detail="the game has been closed"))
