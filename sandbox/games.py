"""Games over a child process, without an event loop."""

import time
from collections.abc import Sequence
from typing import TypeVar

from sandbox.child import Child
from sandbox.driver import frames
from sandbox.driver.attention import Attention
from sandbox.placing import Place
from sandbox.replies import BadFrame, read_batch, read_reply
from sandbox.waiting import TURN, Waiting, finish
from spade.outcomes import CallOutcome, Reply, Step

MAX_ACTION = 1 << 16
"""Bytes of an action that reach the program; what is longer is cut."""
QUICK = 0.001
"""Seconds within which an answer makes the next worth lingering for."""
MOST_DOUBT = 1024
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
        self.quick = True
        """Whether the next answer is worth lingering for."""
        self.slow_calls = 0
        self.doubt = 1
        """After so many slow calls in a row the program gets another chance to be quick."""
        self.place = Place(child.pidfd)
        self.attention = Attention()

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

    def begin(self, kind: int, body: bytes) -> "Reply | Waiting[Reply]":
        """Start a call; the reply at once if the program is quick, else a generator that waits for it."""
        if self.ended is not None:
            return self.ended
        started = time.monotonic()
        try:
            self.child.send(kind, body)
            received = self.at_once()
            if received is not None:
                reply = read_reply(*received, kind, time.monotonic() - started)
                return reply if reply.outcome in ALIVE else self.dying(reply, started)
        except (EOFError, BadFrame) as error:
            return self.failing(error, started)
        return self.concluding(kind, self.patience(started), started)

    def asking(self, kind: int, body: bytes) -> Waiting[Reply]:
        """The same call where many games are played at once: all are asked before any is waited for."""
        if self.ended is not None:
            return self.ended
        started = time.monotonic()
        return (yield from self.concluding(kind, self.exchange(kind, body, started), started))

    def exchange(self, kind: int, body: bytes, started: float) -> Waiting[tuple[int, bytes]]:
        self.child.send(kind, body)
        yield TURN
        return self.at_once() or (yield from self.patience(started))

    def at_once(self) -> tuple[int, bytes] | None:
        """The answer, if the program is a quick one and has it within a moment."""
        if not self.quick:
            return None
        received = None if self.place.crowd else self.attention.look(self.child.receive)
        received = received or self.child.receive(0)
        if received is not None:
            self.doubt = 1
            self.place.quick()
        else:
            self.quick = False
            self.doubt = min(2 * self.doubt, MOST_DOUBT)
            self.place.slow()
        return received

    def patience(self, started: float) -> Waiting[tuple[int, bytes]]:
        """Wait for the answer of a program that takes its time."""
        received = yield from self.child.answer(started)
        self.slow_calls += 1
        if time.monotonic() - started < QUICK or self.slow_calls >= self.doubt:
            self.quick = True
            self.slow_calls = 0
        return received

    def concluding(self, kind: int, coming: Waiting[tuple[int, bytes]], started: float) -> Waiting[Reply]:
        """The reply to a single call from the answer that comes, or what its failing means."""
        try:
            received = yield from coming
            reply = read_reply(*received, kind, time.monotonic() - started)
        except (TimeoutError, EOFError, BadFrame) as error:
            return (yield from self.failing(error, started))
        except GeneratorExit:
            self.abandon()
            raise
        return reply if reply.outcome in ALIVE else (yield from self.dying(reply, started))

    def play_many(self, actions: Sequence[str]) -> Waiting[Reply]:
        """A batch, in as many frames as it takes."""
        if self.ended is not None:
            return self.ended
        started = time.monotonic()
        played: list[Step] = []
        last = Reply(CallOutcome.OK)
        try:
            while len(played) < len(actions) and last.ok and not over(played):
                body, count = pack_some(actions, len(played))
                received = yield from self.exchange(frames.PLAY_MANY, body, time.monotonic())
                last = read_batch(*received, count)
                played += last.steps
            self.place.slow()
            if last.outcome not in ALIVE:
                yield from self.dying(last, started)
        except (TimeoutError, EOFError, BadFrame) as error:
            last = yield from self.failing(error, started)
        except GeneratorExit:
            self.abandon()
            raise
        seconds = time.monotonic() - started
        if len(played) == len(last.steps):
            object.__setattr__(last, "seconds", seconds)  # ours alone until it is handed on
            return last
        return Reply(last.outcome, steps=tuple(played), detail=last.detail, seconds=seconds)

    def failing(self, error: Exception, started: float) -> Waiting[Reply]:
        """What a broken call means, once the process is surely gone."""
        if self.child.closed:
            self.ended = Reply(CallOutcome.SANDBOX_LOST, detail="the game is not this process's any more")
            return self.ended
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
    chosen = list(actions[first : first + MAX_ACTIONS_PER_FRAME])
    try:
        body = frames.pack_texts(chosen)
    except UnicodeEncodeError:
        body = b""
    if 0 < len(body) <= MAX_ACTION:
        return body, len(chosen)
    return pack_carefully(chosen)


def pack_carefully(actions: Sequence[str]) -> tuple[bytes, int]:
    """The same for actions that are long or not valid Unicode: as many as fit, each as the program may see it."""
    fitting: list[str] = []
    size = 0
    for action in actions:
        data = encode(action)
        size += len(data)
        if fitting and size > MAX_BYTES_PER_FRAME:
            break
        fitting.append(data.decode())
    return frames.pack_texts(fitting), len(fitting)
