"""The loop of a child: read a request, let the program answer, check the answer, write it. Nothing here is trusted."""

import math
import os
import select
import struct
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from . import frames
from .attention import Attention
from .program import MODULE, Violation, explain, load

SURELY_SHORT = frames.MAX_OBSERVATION // 4
SURELY_FITTING = frames.MAX_BATCH_TEXT // 4
"""Characters that are within the limits however they are encoded."""
CONTROL = 3
"""The descriptor of the only way in and out."""


REHEARSAL = (
    (
        frames.LOAD,
        b"import random\nclass RehearsalEnv:\n"
        b"  def reset(self, seed=None): return f'{random.Random(seed).random()}', {}\n"
        b"  def step(self, action): return action, 0.0, False, False, {}\n"
        b"  def solution(self): return []\n",
    ),
    (frames.RESET, frames.SEED.pack(0)),
    (frames.PLAY, b"x"),
    (frames.PLAY_MANY, frames.pack_texts(["x"])),
    (frames.SOLVE, b""),
)


class Server:
    """One program and its environment, once loaded."""

    def __init__(self, builtin_names: dict[str, Any] | None) -> None:
        self.builtin_names = builtin_names
        self.source = ""
        self.environment: Any = None
        self.handlers: dict[int, Callable[[bytes], tuple[int, bytes]]] = {
            frames.LOAD: self.load,
            frames.RESET: self.reset,
            frames.PLAY: self.play,
            frames.PLAY_MANY: self.play_many,
            frames.SOLVE: self.solve,
            frames.BUNDLE: self.bundle,
        }

    def answer(self, kind: int, body: bytes) -> tuple[int, bytes]:
        try:
            return self.handlers[kind](body)
        except BaseException as error:  # noqa: BLE001
            return self.failure(error)

    def failure(self, error: BaseException) -> tuple[int, bytes]:
        """Kind and text of what went wrong."""
        if isinstance(error, Violation):
            return frames.VIOLATED, str(error)[: frames.MAX_DETAIL].encode("utf-8", "backslashreplace")
        if isinstance(error, MemoryError):
            return frames.OUT_OF_MEMORY, b"MemoryError"
        text = explain(error, self.source)
        return frames.RAISED, text.encode("utf-8", "backslashreplace")

    def load(self, body: bytes) -> tuple[int, bytes]:
        self.source = body.decode()
        self.environment = load(self.source, self.builtin_names)
        return frames.LOADED, b""

    def reset(self, body: bytes) -> tuple[int, bytes]:
        result = self.method("reset")(frames.SEED.unpack(body)[0])
        if not isinstance(result, tuple) or len(result) != 2:
            raise Violation(f"reset must return (observation, info), not {shape(result)}")
        observation, info = result
        check_info("reset", info)
        return frames.OBSERVED, observed(observation)

    def play(self, body: bytes) -> tuple[int, bytes]:
        observation, reward, flags = checked_step(self.method("step")(body.decode()))
        return frames.STEPPED, frames.STEP.pack(reward, flags) + observation

    def play_many(self, body: bytes) -> tuple[int, bytes]:
        """Play until the first end or failure; steps before a failure are kept."""
        batch = Batch()
        try:
            batch.play(self.method("step"), frames.unpack_texts(body, frames.MAX_ACTIONS))
        except BaseException as error:  # noqa: BLE001
            batch.ending, batch.detail = self.failure(error)
        return frames.STEPPED_MANY, batch.pack()

    def solve(self, _: bytes) -> tuple[int, bytes]:
        actions = self.method("solution")()
        if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
            raise Violation(f"solution must return a list of actions (str), not {shape(actions)}")
        if len(actions) > frames.MAX_ACTIONS:
            raise Violation(f"solution returned {len(actions)} actions; at most {frames.MAX_ACTIONS} are allowed")
        try:
            return frames.SOLVED, frames.pack_texts(actions)
        except UnicodeEncodeError as error:
            raise Violation("solution returned text that is not valid Unicode (a lone surrogate)") from error

    def bundle(self, body: bytes) -> tuple[int, bytes]:
        """Several requests in turn, up to one that failed for good or that made the answer long."""
        answers: list[tuple[int, bytes]] = []
        size = 0
        for kind, part in frames.unpack_parts(body):
            answer = self.answer(kind, part)
            answers.append(answer)
            size += len(answer[1])
            if cuts_off(*answer) or size > frames.MAX_BATCH_TEXT:
                break
        return frames.BUNDLED, frames.pack_parts(answers)

    def method(self, name: str) -> Callable[..., Any]:
        found = getattr(self.environment, name, None)
        if not callable(found):
            raise Violation(f"the class {type(self.environment).__name__} has no method {name}")
        return found  # type: ignore[no-any-return]


class Batch:
    """The steps of one frame. The usual shapes are checked in one line; all else goes the long way, for its words."""

    def __init__(self) -> None:
        self.observations: list[str] = []
        self.rewards: list[float] = []
        self.flags = self.ending = 0
        self.detail = b""

    def play(self, step: Callable[[str], Any], actions: list[str]) -> None:
        """Play until the first end, or until the frame is full. Raises `Violation`, or what the program raises."""
        keep_observation, keep_reward = self.observations.append, self.rewards.append
        size = 0
        for action in actions:
            result = step(action)
            if type(result) is not tuple or len(result) != 5:
                checked_step(result)
            observation, reward, terminated, truncated, info = result
            if (
                type(observation) is not str
                or type(reward) is not float
                or reward - reward != 0.0
                or type(terminated) is not bool
                or type(truncated) is not bool
                or type(info) is not dict
                or len(observation) > SURELY_SHORT
            ):
                text, reward, _ = checked_step(result)
                observation = text.decode()
            keep_observation(observation)
            keep_reward(reward)
            if terminated or truncated:
                self.flags = terminated + 2 * truncated
                return
            size += len(observation)
            if size > SURELY_FITTING:
                self.ending = frames.CUT
                return

    def pack(self) -> bytes:
        try:
            texts = frames.pack_texts(self.observations)
        except UnicodeEncodeError:
            self.cut_at_surrogate()
            texts = frames.pack_texts(self.observations)
        count = len(self.observations)
        head = frames.BATCH.pack(count, self.ending, self.flags, len(texts))
        return b"".join((head, struct.pack(f"<{count}d", *self.rewards), texts, self.detail))

    def cut_at_surrogate(self) -> None:
        """Keep the steps before the first text that cannot be encoded; that one is the failure."""
        for at, observation in enumerate(self.observations):
            try:
                encoded(observation, "the observation")
            except Violation as violation:
                self.ending, self.flags, self.detail = frames.VIOLATED, 0, str(violation).encode()
                del self.observations[at:], self.rewards[at:]
                return


def cuts_off(kind: int, body: bytes) -> bool:
    """Whether no later request of a bundle may be answered after this answer."""
    if kind == frames.STEPPED_MANY:
        kind = frames.BATCH.unpack_from(body)[1]
    return kind in (frames.VIOLATED, frames.OUT_OF_MEMORY, frames.CUT)


def checked_step(result: Any) -> tuple[bytes, float, int]:
    """Observation, reward and flags of what `step` returned. Raises `Violation` on anything the contract forbids."""
    if not isinstance(result, tuple) or len(result) != 5:
        raise Violation(f"step must return (observation, reward, terminated, truncated, info), not {shape(result)}")
    observation, reward, terminated, truncated, info = result
    if type(reward) is not float:
        reward = real_number(reward)
    if not math.isfinite(reward):
        raise Violation(f"the reward must be finite, not {reward}")
    if not isinstance(terminated, bool) or not isinstance(truncated, bool):
        raise Violation(f"terminated and truncated must be bool, not {shape(terminated)} and {shape(truncated)}")
    check_info("step", info)
    return observed(observation), reward, terminated + 2 * truncated


def real_number(reward: Any) -> float:
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise Violation(f"the reward must be a number (float or int), not {shape(reward)}")
    try:
        return float(reward)
    except OverflowError:
        raise Violation("the reward is too large for a float") from None


def observed(observation: Any) -> bytes:
    if not isinstance(observation, str):
        raise Violation(f"the observation must be a str, not {shape(observation)}")
    text = encoded(observation, "the observation")
    if len(text) > frames.MAX_OBSERVATION:
        raise Violation(f"the observation has {len(text)} bytes; at most {frames.MAX_OBSERVATION} are allowed")
    return text


def encoded(text: str, what: str) -> bytes:
    try:
        return str.encode(text)
    except UnicodeEncodeError:
        raise Violation(f"{what} is not valid Unicode (a lone surrogate)") from None


def check_info(call: str, info: Any) -> None:
    if not isinstance(info, dict):
        raise Violation(f"the info that {call} returns must be a dict, not {shape(info)}")


def shape(value: Any) -> str:
    """A value's type in words; tuples with their length, since a wrong length is the usual mistake."""
    name = type(value).__name__
    return f"a tuple of {len(value)}" if type(value) is tuple else name


def read_request(waiting: bytes, look: Callable[[], Any]) -> tuple[int, int, bytes, bytes]:
    """Sequence, kind, body of the next request, and what came after it. Ends the process when nobody asks any more.

    `look` may wait awake for a moment until something can be read.
    """
    head = frames.HEAD
    while len(waiting) < head.size or len(waiting) < 4 + frames.COUNT.unpack_from(waiting)[0]:
        look()
        more = os.read(CONTROL, 1 << 16)
        if not more:
            os._exit(0)
        waiting += more
    length, sequence, kind = head.unpack_from(waiting)
    end = 4 + length
    return sequence, kind, waiting[head.size : end], waiting[end:]


def rehearse(builtin_names: dict[str, Any] | None) -> None:
    """Play a program of ours: code runs faster the second time, and memory shared with the parent is copied now."""
    server = Server(builtin_names)
    for kind, body in REHEARSAL:
        if server.answer(kind, body)[0] in frames.FAILURES:
            raise RuntimeError("the rehearsal failed")
    sys.modules.pop(MODULE)


def listening() -> Callable[[], Any]:
    """Answers, at once, whether a request is waiting (true) or not."""
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    return partial(poll.poll, 0)


def serve(builtin_names: dict[str, Any] | None) -> None:
    """Answer requests until the other end closes."""
    asked = listening()
    if not asked():
        rehearse(builtin_names)
    server = Server(builtin_names)
    look = partial(Attention(asleep=1).look, asked)
    waiting = b""
    while True:
        sequence, kind, body, waiting = read_request(waiting, look)
        reply = frames.frame(sequence, *server.answer(kind, body))
        sent = os.write(CONTROL, reply)
        while sent < len(reply):
            sent += os.write(CONTROL, reply[sent:])
