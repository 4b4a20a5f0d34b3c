"""Calls on their way: what of a bundle is still to be asked, and what was played since the last reset."""

import hashlib
from collections.abc import Sequence

from sandbox.cloud.wire import unplayed
from sandbox.games import ALIVE
from spade.outcomes import Reply, Step
from spade.ports import Ask


class Run:
    """A bundle of calls that is answered in parts."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        self.rest = list(asks)
        self.replies: list[Reply] = []
        self.steps: tuple[Step, ...] = ()
        """Steps of the first of `rest` that have been played already."""

    def take(self, got: Sequence[Reply]) -> None:
        """Note the replies to the first of `rest`; the last of them may be to a part of its call."""
        for reply in got:
            ask = self.rest.pop(0)
            if more := unplayed(ask, reply):
                self.steps += reply.steps
                self.rest.insert(0, Ask(ask.call, ask.seed, more))
            else:
                self.finish(reply)

    def finish(self, reply: Reply) -> None:
        steps, self.steps = (*self.steps, *reply.steps), ()
        self.replies.append(Reply(reply.outcome, reply.observation, steps, reply.actions, reply.detail))
        if reply.outcome not in ALIVE:
            self.rest.clear()

    def timed(self, seconds: float) -> tuple[Reply, ...]:
        """The replies, the time shared out among them."""
        share = seconds / max(1, len(self.replies))
        return tuple(Reply(r.outcome, r.observation, r.steps, r.actions, r.detail, share) for r in self.replies)


class Record:
    """What was played since the last reset, and a fingerprint of what came of it, however it was cut into calls."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.seen = hashlib.sha256()

    def note(self, asks: Sequence[Ask], replies: Sequence[Reply]) -> None:
        for ask, reply in zip(asks, replies, strict=False):
            if ask.call == "reset":
                self.asks, self.seen = [], hashlib.sha256()
            played = ask.actions[: len(reply.steps)] if reply.ok else ask.actions
            self.asks.append(Ask(ask.call, ask.seed, played))
            for part in (reply.observation, *reply.steps, *reply.actions, reply.detail):
                if part:
                    self.seen.update(repr(part).encode())

    def same_as(self, other: "Record") -> bool:
        return self.seen.digest() == other.seen.digest()
