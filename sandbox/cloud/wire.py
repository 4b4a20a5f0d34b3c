"""What a machine says, read with distrust: a program that took the machine over could have written every byte."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictStr, TypeAdapter

from sandbox.cloud.relay import MAX_LINE
from sandbox.driver import frames
from sandbox.games import ALIVE, encode, over
from sandbox.replies import BadFrame, printable
from spade.outcomes import CallOutcome, Reply, Step
from spade.ports import Ask, Limits

Text = Annotated[StrictStr, Field(max_length=frames.MAX_OBSERVATION)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Actions = Annotated[list[StrictStr], Field(max_length=frames.MAX_ACTIONS)]
WireStep = tuple[Text, Number, StrictBool, StrictBool]
WireReply = tuple[CallOutcome, Text, list[WireStep], Actions, StrictStr]
_replies = TypeAdapter(list[WireReply])

MAX_ASKS, MAX_ASKED = 64, 1 << 18
"""Calls of one line, and bytes of actions after which no more are put into it."""


@dataclass(frozen=True)
class Line:
    """One line: the report when it is ready, an answer to a request, or neither (a sign of life)."""

    ready: dict[str, Any] | None = None
    number: int | None = None
    replies: tuple[Reply, ...] = ()
    lost: str = ""


def read_line(text: str) -> Line:
    """Raises `BadFrame` on anything that is not a line of the relay."""
    try:
        message = json.loads(text)
        match message:
            case {"id": int(number), "replies": list(replies)}:
                return Line(number=number, replies=tuple(map(reply_of, _replies.validate_python(replies))))
            case {"id": int(number), "lost": str(why)}:
                return Line(number=number, lost=printable(why)[: frames.MAX_DETAIL] or "for no reason given")
            case {"ready": dict(report)}:
                return Line(ready=report)
            case {"beat": 0}:
                return Line()
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"a line that cannot be read: {type(error).__name__}") from error
    raise BadFrame("a line of no known kind")


def reply_of(wire: WireReply) -> Reply:
    """Raises `BadFrame`."""
    outcome, observation, steps, actions, detail = wire
    for text in (observation, *(step[0] for step in steps)):
        if measured(text) > frames.MAX_OBSERVATION:
            raise BadFrame("an observation over the limit")
    if sum(map(measured, actions)) > frames.MAX_FRAME:
        raise BadFrame("a solution over the limit")
    made = tuple(Step(*step) for step in steps)
    words = printable(detail)[: frames.MAX_DETAIL]
    return Reply(outcome, observation, made, tuple(actions), words)


def measured(text: str) -> int:
    """Bytes of a text. Raises `BadFrame` on a lone surrogate."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise BadFrame("text that is not valid Unicode") from None


def check_replies(asks: Sequence[Ask], replies: Sequence[Reply]) -> None:
    """Each reply must be one to its call. Raises `BadFrame`."""
    if not 1 <= len(replies) <= len(asks):
        raise BadFrame(f"{len(replies)} replies to {len(asks)} calls")
    for ask, reply in zip(asks, replies, strict=False):
        ended = [step.terminated or step.truncated for step in reply.steps]
        fits = {
            "reset": not reply.steps and not reply.actions,
            "step": len(reply.steps) == reply.ok and not reply.observation and not reply.actions,
            "steps": len(reply.steps) <= len(ask.actions) and not reply.observation and not reply.actions,
            "solution": not reply.steps and not reply.observation,
        }[ask.call]
        stuck = bool(unplayed(ask, reply)) and (not reply.steps or reply is not replies[-1])
        if not fits or any(ended[:-1]) or stuck:
            raise BadFrame(f"an answer that is none to {ask.call}")
    if any(reply.outcome not in ALIVE for reply in replies[:-1]):
        raise BadFrame("an answer after one that was the last")


def opening(number: int, program: str, limits: Limits, hash_seed: int) -> dict[str, Any]:
    sizes = [limits.wall_seconds, limits.cpu_seconds, limits.memory_mb, limits.scratch_mb]
    return {"open": number, "program": program, "limits": sizes, "hash_seed": hash_seed}


def asking(number: int, asks: Sequence[Ask]) -> dict[str, Any]:
    return {"ask": number, "calls": [[ask.call, ask.seed, list(ask.actions)] for ask in asks]}


def portion(asks: Sequence[Ask]) -> list[Ask]:
    """As many of the calls as one line should hold, each action as the program may see it; at least one action."""
    chosen: list[Ask] = []
    size = 0
    for ask in asks[:MAX_ASKS]:
        actions: list[str] = []
        for action in ask.actions:
            if size > MAX_ASKED:
                break
            data = encode(action)
            size += len(data)
            actions.append(data.decode())
        if len(actions) < len(ask.actions) and not actions:
            break
        chosen.append(Ask(ask.call, ask.seed, tuple(actions)))
        if size > MAX_ASKED:
            break
    return chosen


def unplayed(ask: Ask, reply: Reply) -> tuple[str, ...]:
    """The actions of a batch that still have to be asked for."""
    if ask.call != "steps" or not reply.ok or over(reply.steps):
        return ()
    return ask.actions[len(reply.steps) :]


class Lines:
    """Puts lines together from pieces, never more than one line's worth of them."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0

    def feed(self, piece: str) -> list[str]:
        """The lines that are complete now. Raises `BadFrame`."""
        *whole, rest = piece.split("\n")
        if whole:
            whole[0] = "".join([*self.pieces, whole[0]])
            self.pieces, self.size = [], 0
        self.pieces.append(rest)
        self.size += len(rest)
        if self.size > MAX_LINE:
            raise BadFrame(f"a line of more than {MAX_LINE} characters")
        return whole
