"""Plays, updates, swaps, plays: after some rounds the agent wins what it could only guess at first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from inference.in_process.engine import Size, TorchEngine  # noqa: E402
from spade.episodes import Arm, Asked, Episode, ModelPolicy, play  # noqa: E402
from spade.messages import Guide, Sampling  # noqa: E402
from spade.outcomes import CallOutcome, Reply, Step  # noqa: E402
from spade.training_settings import RoleTraining, TrainingSettings  # noqa: E402
from training.averaging import served_state  # noqa: E402
from training.batches import agent_part, make_batch  # noqa: E402
from training.learner import Learner  # noqa: E402
from training.policy import policy_of  # noqa: E402
from training.samples import Limits  # noqa: E402
from training.scratch import scratch_model, scratch_tokenizer  # noqa: E402

COLOURS = ("red", "blue", "green", "white")
ANSWERS = {"red": "stop", "blue": "swim", "green": "go", "white": "wait"}
GUIDE = Guide(choices=tuple(f"\\boxed{{{word}}}" for word in ANSWERS.values()))
DRAW = Sampling(temperature=1.0, top_p=1.0, top_k=0, max_tokens=12)
LIGHTS, GROUP, GROUPS, ROUNDS = 3, 8, 8, 30


@dataclass
class LightGame:
    """Some lights one after the other, each with its own right word, which is never told; each has its share of the
    reward."""

    rng: Random | None = None
    left: int = 0
    colour: str = ""

    async def reset(self, seed: int) -> Reply:
        self.rng, self.left = Random(seed), LIGHTS
        return Reply(CallOutcome.OK, observation=self._next())

    def _next(self) -> str:
        assert self.rng is not None
        self.colour = self.rng.choice(COLOURS)
        return f"The light is {self.colour}."

    async def step(self, action: str) -> Reply:
        self.left -= 1
        reward = (action == ANSWERS[self.colour]) / LIGHTS
        return Reply(CallOutcome.OK, steps=(Step(self._next(), reward, self.left == 0, False),))

    async def steps(self, actions: Sequence[str]) -> Reply:
        raise NotImplementedError

    async def solution(self) -> Reply:
        raise NotImplementedError

    async def close(self) -> None:
        return None


def played(served: TorchEngine, round_: int) -> list[Episode]:
    async def one(group: int, number: int) -> Episode:
        seed = round_ * 1000 + group * 100 + number
        asked = Asked("cycle", f"env-{group}", round_, Arm.PLAIN, number, seed)
        policy = ModelPolicy(served, replace(DRAW, seed=seed), GUIDE)
        return await play(LightGame(), policy, asked, "", max_turns=LIGHTS)

    async def all_of_them() -> list[Episode]:
        return list(await asyncio.gather(*(one(g, n) for g in range(GROUPS) for n in range(GROUP))))

    return asyncio.run(all_of_them())


def test_an_agent_learns_what_only_its_returns_can_teach() -> None:
    texts = [f"The light is {colour}." for colour in COLOURS] + list(ANSWERS.values())
    tokenizer = scratch_tokenizer(texts * 5, 400, [f"\\boxed{{{word}}}" for word in ANSWERS.values()])
    settings = TrainingSettings(agent=RoleTraining(learning_rate=1e-3, minibatches=2))
    learner = Learner(policy_of(scratch_model(tokenizer, width=32), tokenizer, settings), settings)
    served = TorchEngine(
        {"agent": scratch_model(tokenizer, width=32)}, tokenizer, name="scratch", weights="w0", size=Size(batch=64)
    )
    returns = []
    for round_ in range(ROUNDS):
        episodes = played(served, round_)
        returns.append(fmean(e.return_ or 0.0 for e in episodes))
        learner.update(make_batch(agent_part(episodes, DRAW, Limits(len(tokenizer)))))
        served.swap({"agent": served_state(learner, "agent")}, f"w{round_ + 1}")

    assert returns[0] < 0.4
    assert fmean(returns[-3:]) > 0.8
