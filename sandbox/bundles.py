"""Many calls of one game in one round trip."""

import time
from collections.abc import Sequence

from sandbox.driver import frames
from sandbox.games import ALIVE, MAX_BYTES_PER_FRAME, LocalGame, encode, over, pack_some
from sandbox.replies import BadFrame, read_batch, read_reply
from sandbox.waiting import Waiting
from spade.outcomes import Reply
from spade.ports import Ask

MOST = 256
"""Calls of one frame, since one deadline holds for all of them."""
KINDS = {"reset": frames.RESET, "step": frames.PLAY, "steps": frames.PLAY_MANY, "solution": frames.SOLVE}


def ask_many(game: LocalGame, asks: Sequence[Ask]) -> Waiting[tuple[Reply, ...]]:
    """See `spade.ports.BundleGame.ask_many`."""
    replies: list[Reply] = []
    while len(replies) < len(asks) and (not replies or replies[-1].outcome in ALIVE):
        if game.ended is not None:
            replies.append(game.ended)
            break
        replies += yield from _one_frame(game, asks[len(replies) : len(replies) + MOST])
    return tuple(replies)


def _one_frame(game: LocalGame, asks: Sequence[Ask]) -> Waiting[list[Reply]]:
    """Replies to as many of the calls as one frame holds and answers; at least one."""
    started = time.monotonic()
    parts = _parts(asks)
    try:
        game.child.send(frames.BUNDLE, frames.pack_parts(parts))
        replies = _read((yield from game.patience(started)), parts)
    except (TimeoutError, EOFError, BadFrame) as error:
        return [(yield from game.failing(error, started))]
    except GeneratorExit:
        game.abandon()
        raise
    game.place.slow()
    seconds = (time.monotonic() - started) / len(replies)
    for reply in replies:
        object.__setattr__(reply, "seconds", seconds)  # ours alone until it is handed on
    if replies[-1].outcome not in ALIVE:
        yield from game.dying(replies[-1], started)
        return replies
    rest = asks[len(replies) - 1].actions[len(replies[-1].steps) :]
    if replies[-1].ok and replies[-1].steps and rest and not over(replies[-1].steps):
        more = yield from game.play_many(rest)
        steps = (*replies[-1].steps, *more.steps)
        replies[-1] = Reply(more.outcome, steps=steps, detail=more.detail, seconds=seconds + more.seconds)
    return replies


def _parts(asks: Sequence[Ask]) -> list[tuple[int, bytes]]:
    """The calls as requests, up to what one frame may hold. A call whose actions do not fit makes the last one."""
    parts: list[tuple[int, bytes]] = []
    size = 0
    for ask in asks:
        body, whole = _body(ask)
        size += len(body) + frames.PART.size
        if parts and size > MAX_BYTES_PER_FRAME:
            break
        parts.append((KINDS[ask.call], body))
        if not whole:
            break
    return parts


def _body(ask: Ask) -> tuple[bytes, bool]:
    """A call's request, and whether it holds all of the call's actions."""
    if ask.call == "reset":
        return frames.SEED.pack(ask.seed), True
    if ask.call == "step":
        return encode(ask.actions[0]), True
    if ask.call == "steps":
        body, count = pack_some(ask.actions, 0)
        return body, count == len(ask.actions)
    return b"", True


def _read(received: tuple[int, bytes], asked: Sequence[tuple[int, bytes]]) -> list[Reply]:
    """Every byte is hostile. Raises `BadFrame`."""
    kind, body = received
    try:
        answers = frames.unpack_parts(body)
    except ValueError as error:
        raise BadFrame(str(error)) from error
    if kind != frames.BUNDLED or not 1 <= len(answers) <= len(asked):
        raise BadFrame(f"a reply of kind {kind} with {len(answers)} answers to {len(asked)} calls")
    replies = []
    for (question, part), answer in zip(asked, answers, strict=False):
        if question == frames.PLAY_MANY:
            replies.append(read_batch(*answer, frames.count_of(part)))
        else:
            replies.append(read_reply(*answer, question))
        if replies[-1].outcome not in ALIVE and len(replies) < len(answers):
            raise BadFrame("an answer after one that was the last")
    return replies
