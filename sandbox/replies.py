"""Turn the bytes of a child into a `Reply`. Every byte is hostile: lengths, texts, numbers are checked again here."""

import math
import struct
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from sandbox.driver import frames
from spade.outcomes import CallOutcome, Reply, Step

FAILED = {
    frames.RAISED: CallOutcome.ENV_ERROR,
    frames.VIOLATED: CallOutcome.ENV_PROTOCOL,
    frames.OUT_OF_MEMORY: CallOutcome.ENV_MEMORY,
}
ANSWERS = {
    frames.LOAD: frames.LOADED,
    frames.RESET: frames.OBSERVED,
    frames.PLAY: frames.STEPPED,
    frames.PLAY_MANY: frames.STEPPED_MANY,
    frames.SOLVE: frames.SOLVED,
}
PLAIN_STEP = 0
FLAGS = ((False, False), (True, False), (False, True), (True, True))


_new = object.__new__
_new_tuple: Callable[[type[Step], Iterable[Any]], Step] = tuple.__new__
_reply_fields = tuple(getattr(Reply, name).__set__ for name in Reply.__slots__)


def stepped(step: Step, seconds: float) -> Reply:
    """`Reply(OK, steps=(step,), seconds=seconds)`, without the detour that a frozen record makes for each field."""
    reply = _new(Reply)
    set_outcome, set_observation, set_steps, set_actions, set_detail, set_seconds = _reply_fields
    set_outcome(reply, CallOutcome.OK)
    set_observation(reply, "")
    set_steps(reply, (step,))
    set_actions(reply, ())
    set_detail(reply, "")
    set_seconds(reply, seconds)
    return reply


class BadFrame(ValueError):
    """The child broke the protocol; the text says how."""


def read_reply(kind: int, body: bytes, asked: int, seconds: float = 0.0) -> Reply:
    """The reply to a request other than a batch. `asked` is the request's kind. Raises `BadFrame`."""
    if kind in FAILED:
        return failure(kind, body, seconds)
    if ANSWERS.get(asked) != kind:
        raise BadFrame(f"a reply of kind {kind} to a request of kind {asked}")
    if kind == frames.STEPPED:
        return stepped(read_step(body), seconds)
    if kind == frames.OBSERVED:
        return Reply(CallOutcome.OK, observation=read_observation(body), seconds=seconds)
    if kind == frames.SOLVED:
        return Reply(CallOutcome.OK, actions=read_actions(body), seconds=seconds)
    return Reply(CallOutcome.OK, seconds=seconds)


def failure(kind: int, body: bytes, seconds: float = 0.0) -> Reply:
    """A failure that the driver reported, in its words."""
    detail = read_text(body[: 4 * frames.MAX_DETAIL])[: frames.MAX_DETAIL]
    return Reply(FAILED[kind], detail=printable(detail), seconds=seconds)


def read_text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise BadFrame("text that is not UTF-8") from error


def printable(text: str) -> str:
    """Without control characters, which could rewrite a terminal or a log."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)


def read_observation(body: bytes) -> str:
    if len(body) > frames.MAX_OBSERVATION:
        raise BadFrame(f"an observation of {len(body)} bytes")
    return read_text(body)


def read_step(body: bytes) -> Step:
    if len(body) < frames.STEP.size:
        raise BadFrame("a step cut short")
    reward, flags = frames.STEP.unpack_from(body)
    if flags > 3 or not math.isfinite(reward):
        raise BadFrame(f"a step with reward {reward} and flags {flags}")
    return Step(read_observation(body[frames.STEP.size :]), reward, *FLAGS[flags])


def read_actions(body: bytes) -> tuple[str, ...]:
    try:
        return tuple(frames.unpack_texts(body, frames.MAX_ACTIONS))
    except (ValueError, struct.error) as error:
        raise BadFrame(f"a solution with {error}") from error


def read_batch(kind: int, body: bytes, asked: int) -> Reply:
    """The steps of a batch of `asked` actions (fewer when the driver cut it), and the failure that ended it if one did.

    Raises `BadFrame`.
    """
    if kind in FAILED:
        return failure(kind, body)
    if kind != frames.STEPPED_MANY or len(body) < frames.BATCH.size:
        raise BadFrame(f"a reply of kind {kind} to a batch")
    count, ending, flags, size = frames.BATCH.unpack_from(body)
    texts_at = frames.BATCH.size + 8 * count
    if count > asked or flags > 3 or len(body) < texts_at + size:
        raise BadFrame(f"a batch of {count} steps to {asked} actions, with flags {flags}")
    steps = read_steps(body, count, flags, body[texts_at : texts_at + size])
    if ending in FAILED:
        failed = failure(ending, body[texts_at + size :])
        return Reply(failed.outcome, steps=steps, detail=failed.detail)
    whole = count == asked or (count and (flags or ending == frames.CUT))
    if not whole or ending not in (0, frames.CUT):
        raise BadFrame(f"a batch that stopped after {count} of {asked} steps for no reason")
    return Reply(CallOutcome.OK, steps=steps)


def read_steps(body: bytes, count: int, flags: int, texts: bytes) -> tuple[Step, ...]:
    """The steps of a batch whose head has been read. The flags are the last step's; the others did not end anything."""
    rewards = struct.unpack_from(f"<{count}d", body, frames.BATCH.size)
    if not math.isfinite(sum(rewards)) and not all(map(math.isfinite, rewards)):
        raise BadFrame("a batch with a reward that is not finite")
    try:
        observations = frames.unpack_texts(texts, count)
    except ValueError as error:
        raise BadFrame(f"a batch with {error}") from error
    if len(observations) != count:
        raise BadFrame(f"a batch of {count} steps with {len(observations)} observations")
    if len(texts) > frames.MAX_OBSERVATION and any(
        len(each.encode()) > frames.MAX_OBSERVATION for each in observations
    ):
        raise BadFrame("a batch with an observation over the limit")
    fields = zip(observations, rewards, repeat(False), repeat(False), strict=False)
    steps = list(map(_new_tuple, repeat(Step), fields))
    if steps and flags:
        steps[-1] = Step(observations[-1], rewards[-1], *FLAGS[flags])
    return tuple(steps)
