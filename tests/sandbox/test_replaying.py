"""Stored episodes, replayed in processes of a real sandbox."""

from dataclasses import dataclass, replace

import pytest

from spade.episodes import Arm, Asked, Episode, ModelPolicy, play
from spade.messages import Sampling
from spade.ports import IsolationLevel, Limits, Opened, Sandbox
from spade.replaying import replayed
from tests.fakes import RuleModel

GUESS = """
import random

class GuessEnv:
    played = 0

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        GuessEnv.played += 1
        self.secret, self.turn = random.Random(seed).randint(1, 9), 0
        return "Guess a number from 1 to 9.", {}

    def step(self, action):
        self.turn += 1
        if action == str(self.secret):
            return "Right.", REWARD, True, False, {}
        return "higher." if int(action) < self.secret else "lower.", 0.0, False, self.turn >= self.max_turns, {}

    def solution(self):
        return [str(self.secret)]
"""
HONEST = GUESS.replace("REWARD", "1.0")
REMEMBERS = GUESS.replace("REWARD", "1.0 / GuessEnv.played")
LIMITS = Limits()


@dataclass
class Counted:
    """A sandbox that counts what it opens."""

    inner: Sandbox
    opened: int = 0

    @property
    def level(self) -> IsolationLevel:
        return self.inner.level

    def report(self) -> dict[str, object]:
        return dict(self.inner.report())

    async def open(self, program: str, limits: Limits, *, hash_seed: int = 0) -> Opened:
        self.opened += 1
        return await self.inner.open(program, limits, hash_seed=hash_seed)


async def plays(sandbox: Sandbox, code: str, count: int = 4) -> list[Episode]:
    """Each in a process of its own, as the factory plays."""
    made = []
    for number in range(count):
        opened = await sandbox.open(code, LIMITS)
        assert opened.game is not None
        asked = Asked("cycle", "env", 0, Arm.PLAIN, number, seed=number)
        made.append(await play(opened.game, ModelPolicy(RuleModel(), Sampling()), asked, "", max_turns=9))
        await opened.game.close()
    return made


async def test_all_plays_of_an_environment_are_replayed_in_one_process(sandbox: Sandbox) -> None:
    episodes, counted = await plays(sandbox, HONEST), Counted(sandbox)
    assert await replayed(episodes, HONEST, counted, LIMITS) == {e.episode_id for e in episodes}
    assert counted.opened == 1


async def test_a_program_that_remembers_earlier_plays_is_asked_in_fresh_processes(sandbox: Sandbox) -> None:
    episodes, counted = await plays(sandbox, REMEMBERS), Counted(sandbox)
    assert await replayed(episodes, REMEMBERS, counted, LIMITS) == {e.episode_id for e in episodes}
    assert counted.opened == len(episodes), "one for all, and one for each but the first"


@pytest.mark.parametrize("broken", ["reward", "observation", "end", "greeting", "no turns"])
async def test_what_is_not_as_stored_does_not_replay(sandbox: Sandbox, broken: str) -> None:
    first, second = await plays(sandbox, HONEST, 2)
    last = first.turns[-1]
    changed = {
        "reward": replace(first, turns=(*first.turns[:-1], replace(last, reward=0.5))),
        "observation": replace(first, final_observation="Right!"),
        "end": replace(first, turns=(*first.turns[:-1], replace(last, terminated=False, truncated=True))),
        "greeting": replace(first, turns=(replace(first.turns[0], observation="Guess."), *first.turns[1:])),
        "no turns": replace(first, turns=()),
    }[broken]
    assert await replayed([changed, second], HONEST, sandbox, LIMITS) == {second.episode_id}


async def test_a_program_that_does_not_load_replays_nothing(sandbox: Sandbox) -> None:
    episodes = await plays(sandbox, HONEST, 1)
    assert await replayed(episodes, "nonsense(", sandbox, LIMITS) == frozenset()
