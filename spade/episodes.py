"""One loop plays every kind of environment for both arms; what varies is the policy or the game, never the loop."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from spade.acting import action_reader
from spade.errors import Retry, Skip
from spade.identity import content_id
from spade.messages import Completion, Guide, Message, Request, Role, Sampling, Tokens, Usage
from spade.outcomes import EpisodeOutcome, Reply
from spade.ports import Game, Model
from spade.skills import Setting

WIN = 1.0 - 1e-6
"""A return of at least this is a win (docs/method.md)."""


class Arm(StrEnum):
    """Without or with the hint. Nothing else differs."""

    PLAIN = "plain"
    HINTED = "hinted"


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange: what the agent saw, said and did, and what the program paid for it."""

    observation: str
    reply: str
    action: str
    reward: float
    terminated: bool = False
    truncated: bool = False
    reasoning: str = ""
    finish_reason: str = ""
    guided: bool = False
    tokens: Tokens | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One play that was asked for. Its id is the episode's id: asking twice cannot make two episodes."""

    cycle_id: str
    env_id: str
    round: int
    arm: Arm
    play: int
    seed: int
    hint_id: str = ""

    @property
    def episode_id(self) -> str:
        return _episode_id(self.cycle_id, self.env_id, self.round, self.arm, self.play)


@lru_cache(maxsize=16_384)
def _episode_id(*path: str | int) -> str:
    return content_id("ep", *path)  # asked for several times a play, by all that store, decide and export it


@dataclass(frozen=True, slots=True)
class Episode:
    """One play, ended. `return_` and `won` are None when nothing was measured; `detail` then says why.

    `system` is the system message the agent had, empty when there was none; `isolation` the level that the program ran
    at (`unsafe`, `confined`, `namespaced`, `vm`).
    """

    asked: Asked
    outcome: EpisodeOutcome
    turns: tuple[Turn, ...]
    model: str
    weights: str
    return_: float | None = None
    won: bool | None = None
    detail: str = ""
    final_observation: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    system: str = ""
    isolation: str = ""

    @property
    def episode_id(self) -> str:
        return self.asked.episode_id


class Policy(Protocol):
    """What chooses the next reply from the conversation so far."""

    async def act(self, messages: Sequence[Message]) -> Completion: ...


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """A model as a player. With a sampling seed, each turn draws from a seed of its own, the same in both arms."""

    model: Model
    sampling: Sampling
    guide: Guide | None = None

    async def act(self, messages: Sequence[Message]) -> Completion:
        turn = sum(m.role == "assistant" for m in messages)
        seed = None if self.sampling.seed is None else (self.sampling.seed + turn) % 2**31
        sampling = replace(self.sampling, seed=seed)
        return await self.model.complete(Request(tuple(messages), sampling, Role.AGENT, guide=self.guide))


@dataclass(frozen=True, slots=True)
class Hinted:
    """The same policy, given a hint in front of the first observation; regret needs both arms."""

    policy: Policy
    hint: str

    async def act(self, messages: Sequence[Message]) -> Completion:
        at = next(i for i, m in enumerate(messages) if m.role == "user")
        first = replace(messages[at], content=with_hint(self.hint, messages[at].content))
        return await self.policy.act([*messages[:at], first, *messages[at + 1 :]])


def with_hint(hint: str, observation: str) -> str:
    """The first observation as the hinted arm reads it."""
    return f"Hint: {hint}\n\n{observation}"


@dataclass(slots=True)
class _Progress:
    """What a running episode has gathered."""

    turns: list[Turn]
    total: float = 0.0
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class _Talk:
    """Who answers, what it was told, and how its replies are read."""

    policy: Policy
    system: str
    setting: Setting


@dataclass(frozen=True, slots=True)
class _End:
    outcome: EpisodeOutcome
    detail: str = ""
    final_observation: str = ""


async def play(
    game: Game, policy: Policy, asked: Asked, system: str, *, max_turns: int, setting: Setting = Setting.GAMES
) -> Episode:
    """Play one episode to its end. `max_turns` is the run's cap; the environment's own may be lower. The `setting` says
    how a reply is read: by its box, or by its tool calls.

    Never raises for what the program or the endpoint did: both become outcomes. `Abort` passes through.
    """
    started = time.perf_counter()
    progress = _Progress([])
    talk = _Talk(policy, system, setting)
    end = await _play_turns(game, talk, asked.seed, max_turns, progress)
    measured = end.outcome.measured
    return Episode(
        asked=asked,
        outcome=end.outcome,
        turns=tuple(progress.turns),
        model=progress.model,
        weights=progress.weights,
        return_=progress.total if measured else None,
        won=progress.total >= WIN if measured else None,
        detail=end.detail,
        final_observation=end.final_observation,
        usage=progress.usage,
        seconds=time.perf_counter() - started,
        system=system,
    )


async def _play_turns(game: Game, talk: "_Talk", seed: int, max_turns: int, progress: _Progress) -> _End:
    reply = await game.reset(seed)
    if not reply.ok:
        return _fault(reply, "reset")
    messages = [Message("system", talk.system)] if talk.system else []
    observation = reply.observation
    read = action_reader(talk.setting, observation)
    for _ in range(max_turns):
        messages.append(Message("user", observation))
        try:
            completion = await talk.policy.act(messages)
        except Retry as error:
            return _End(EpisodeOutcome.MODEL_ERROR, str(error))
        except Skip as error:
            return _End(EpisodeOutcome.MODEL_REFUSED, str(error))
        _note(progress, completion)
        action = read(completion)
        reply = await game.step(action)
        if not reply.ok:
            return _fault(reply, f"step {len(progress.turns) + 1}")
        step = reply.steps[0]
        progress.total += step.reward
        progress.turns.append(_turn(observation, completion, action, reply))
        messages.append(Message("assistant", completion.text))
        observation = step.observation
        if step.terminated:
            return _End(EpisodeOutcome.COMPLETED, final_observation=observation)
        if step.truncated:
            return _End(EpisodeOutcome.TRUNCATED, "the environment's turn cap", observation)
    return _End(EpisodeOutcome.TRUNCATED, "the run's turn cap", observation)


def _note(progress: _Progress, completion: Completion) -> None:
    progress.usage = progress.usage + completion.usage
    progress.model, progress.weights = completion.model, completion.weights


def _fault(reply: Reply, where: str) -> _End:
    return _End(EpisodeOutcome(reply.outcome.value), f"{where}: {reply.detail}")


def _turn(observation: str, completion: Completion, action: str, reply: Reply) -> Turn:
    step = reply.steps[0]
    return Turn(
        observation=observation,
        reply=completion.text,
        action=action,
        reward=step.reward,
        terminated=step.terminated,
        truncated=step.truncated,
        reasoning=completion.reasoning,
        finish_reason=completion.finish_reason,
        guided=completion.guided,
        tokens=completion.tokens,
    )
