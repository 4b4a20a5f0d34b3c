"""The counting game of benchmarks/play.py as a verifiers taskset: ten turns, played in verifiers' own process."""

import atexit
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf

TURNS = 10
COUNT = int(os.environ.get("COUNTING_ROLLOUTS", "64"))
TIMES: list[float] = []


class CountingData(vf.TaskData):
    seed: int


class CountingTask(vf.Task[CountingData, vf.State, vf.TaskConfig]):
    @property
    def key(self) -> str:
        return str(self.data.seed)


class CountingEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "in_process"}, runtime={"type": "subprocess"})


class CountingEnv(vf.Env[CountingEnvConfig]):
    async def run(self, task: Any, agents: Any) -> None:
        TIMES.append(time.time())
        async with agents.player.interaction(task) as interaction:
            await interaction.turn()
            for left in range(TURNS - 1, 0, -1):
                await interaction.turn(f"{left} turns to go.")
        interaction.trace.record_reward("return", 1.0, 1.0)
        TIMES.append(time.time())


class CountingTaskset(vf.Taskset[CountingTask, vf.TasksetConfig]):
    def load(self) -> Iterator[CountingTask]:
        for seed in range(COUNT):
            data = CountingData(id=str(seed), name=str(seed), prompt="10 turns to go. Say next.", seed=seed)
            yield CountingTask(data, self.config.task)


@atexit.register
def note() -> None:
    """First start and last end of a play, for whoever measures."""
    place = os.environ.get("COUNTING_TIMES")
    if place and TIMES:
        Path(place).write_text(json.dumps({"plays": len(TIMES) // 2, "seconds": max(TIMES) - min(TIMES)}))


__all__ = ["CountingEnv", "CountingTaskset"]
