"""Games over a child process, without an event loop."""

import time
from collections.abc import Sequence
from typing import TypeVar

from sandbox.child import Child
from sandbox.driver import frames
from sandbox.replies import BadFrame, read_batch, read_reply
from sandbox.waiting import Waiting, finish
from spade.outcomes import CallOutcome, Reply, Step

MAX_ACTION = 1 << 16
"""Bytes of an action that reach the program; what is longer is cut."""
MAX_ACTIONS_PER_FRAME = 256
MAX_BYTES_PER_FRAME = 96_000

T = TypeVar("T")


class LocalGame:
    """One game: one call at a time, from one thread at a time.

    A call either has its reply at once or answers a generator that waits for it (`sandbox.waiting`).
    """

    def __init__(self, child: Child) -> None:
        self.child = child
        self.ended: Reply | None = None
        """The fatal outcome, once there is one; every later call answers it."""

    def reset(self, seed: int) -> Reply:
        return settle(self.begin(frames.RESET, frames.SEED.pack(seed)))

    def step(self, action: str) -> Reply:
        return settle(self.begin(frames.PLAY, encode(action)))

    def steps(self, actions: Sequence[str]) -> Reply:
        return finish(self.play_many(actions))

    def solution(self) -> Reply:
        return settle(self.begin(frames.SOLVE, b""))

    def close(self) -> None:
        """Kill the process and wait until it is gone."""
        finish(self.closing())

    def begin(self, kind: int, body: bytes, *, linger: bool = True) -> "Reply | Waiting[Reply]":
        """Start a call. `linger` waits a moment for the answer of a quick program."""
        if self.ended is not None:
            return self.ended
        started = time.monotonic()
        try:
            self.child.send(kind, body)
            received = self.child.receive(0) if linger else None
            if received is not None:
                reply = read_reply(*received, kind, time.monotonic() - started)
                return reply if reply.outcome in ALIVE else self.dying(reply, started)
        except (EOFError, BadFrame) as error:
            return self.failing(error, started)
        return self.continuing(kind, started)

    def continuing(self, kind: int, started: float) -> Waiting[Reply]:
        """The rest of a call whose request has been sent."""
        try:
            received = yield from self.child.answer(started)
            reply = read_reply(*received, kind, time.monotonic() - started)
        except (TimeoutError, EOFError, BadFrame) as error:
            return (yield from self.failing(error, started))
        except GeneratorExit:
            self.abandon()
            raise
        if reply.outcome in ALIVE:
            return reply
        return (yield from self.dying(reply, started))

    def play_many(self, actions: Sequence[str]) -> Waiting[Reply]:
        """A batch, in as many frames as it takes."""
        if self.ended is not None:
            return self.ended
        started = time.monotonic()
        played: list[Step] = []
        try:
            while len(played) < len(actions):
                body, count = pack_some(actions, len(played))
                sent = time.monotonic()
                self.child.send(frames.PLAY_MANY, body)
                received = self.child.receive(0)
                if received is None:
                    received = yield from self.child.answer(sent)
                batch = read_batch(*received, count)
                played += batch.reply.steps
                if not batch.reply.ok or over(played):
                    return (yield from self.concluding(batch.reply, played, started))
        except (TimeoutError, EOFError, BadFrame) as error:
            reply = yield from self.failing(error, started)
            return Reply(reply.outcome, steps=tuple(played), detail=reply.detail, seconds=reply.seconds)
        except GeneratorExit:
            self.abandon()
            raise
        return Reply(CallOutcome.OK, steps=tuple(played), seconds=time.monotonic() - started)

    def concluding(self, last: Reply, played: list[Step], started: float) -> Waiting[Reply]:
        """The reply to a batch that ended early, with every step that was played."""
        reply = Reply(last.outcome, steps=tuple(played), detail=last.detail, seconds=time.monotonic() - started)
        if reply.outcome in ALIVE:
            return reply
        yield from self.dying(last, started)
        return reply

    def failing(self, error: Exception, started: float) -> Waiting[Reply]:
        """What a broken call means, once the process is surely gone."""
        if isinstance(error, TimeoutError):
            wall = self.child.limits.wall_seconds
            reply = Reply(CallOutcome.ENV_TIMEOUT, detail=f"no answer within {wall:g} s of wall time")
        elif isinstance(error, BadFrame):
            reply = Reply(CallOutcome.ENV_PROTOCOL, detail=f"it broke the protocol: {error}")
        elif (yield from self.child.ended()):
            reply = self.child.obituary()
        else:
            reply = Reply(CallOutcome.ENV_PROTOCOL, detail="it closed its connection")
        return (yield from self.dying(reply, started))

    def dying(self, reply: Reply, started: float) -> Waiting[Reply]:
        """Make an outcome final: the process is killed, and gone when the caller hears of it."""
        self.ended = Reply(reply.outcome, detail=reply.detail, seconds=time.monotonic() - started)
        yield from self.child.death()
        self.child.close()
        return self.ended

    def closing(self) -> Waiting[None]:
        if self.ended is None:
            self.ended = Reply(CallOutcome.SANDBOX_LOST, detail="the game has been closed")
        if not self.child.closed:
            yield from self.child.death()
            self.child.close()

    def abandon(self) -> None:
        """A call was given up half-way: nobody knows what the program will answer next."""
        self.ended = Reply(CallOutcome.SANDBOX_LOST, detail="a call was cancelled")
        self.child.close()


ALIVE = frozenset({CallOutcome.OK, CallOutcome.ENV_ERROR})
"""Outcomes after which the program can be asked again."""


def settle(begun: "T | Waiting[T]") -> T:
    return finish(begun) if hasattr(begun, "send") else begun  # type: ignore[arg-type]


def over(steps: Sequence[Step]) -> bool:
    return bool(steps) and (steps[-1].terminated or steps[-1].truncated)


def encode(action: str) -> bytes:
    """An action as the program will see it: valid Unicode, and not longer than it may be."""
    data = action.encode("utf-8", "replace")
    if len(data) <= MAX_ACTION:
        return data
    return data[:MAX_ACTION].decode("utf-8", "ignore").encode()


def pack_some(actions: Sequence[str], first: int) -> tuple[bytes, int]:
    """The body of the next frame of a batch, and how many actions it holds."""
    chosen: list[str] = []
    size = 0
    for action in actions[first : first + MAX_ACTIONS_PER_FRAME]:
        data = encode(action)
        size += len(data)
        if chosen and size > MAX_BYTES_PER_FRAME:
            break
        chosen.append(data.decode())
    return frames.pack_texts(chosen), len(chosen)
