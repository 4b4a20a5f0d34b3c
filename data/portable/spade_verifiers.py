"""Games that a model designed and code judged, for verifiers: the program plays the user. Moves stand in boxes; in
tool-use games they are calls, read from the text in every form that models write them.

vf-eval spade_tasks --env.player.harness.id null -m MODEL -b http://HOST:PORT/v1
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found]

from .reading.acting import action_reader  # type: ignore[import-not-found]
from .reading.messages import Completion  # type: ignore[import-not-found]
from .reading.skills import Setting  # type: ignore[import-not-found]
from .spade_game import Game, GameError

HERE = Path(__file__).resolve().parent


class SpadeConfig(vf.TasksetConfig):  # type: ignore[misc]
    split: str = "train"
    """Which rows of tasks.jsonl."""


class SpadeData(vf.TaskData):  # type: ignore[misc]
    env_id: str
    seed: int
    skill: str = ""
    setting: str = "games"
    max_turns: int = 25


class SpadeTask(vf.Task[SpadeData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """One program on one seed."""

    @property
    def key(self) -> str:
        return f"{self.data.env_id}@{self.data.seed}"

    async def validate(self, runtime: Any) -> bool:
        """Gold check: the program's own solution earns the whole reward."""
        with Game(program(self.data.env_id)) as game:
            game.reset(self.data.seed)
            return abs(sum(game.step(action).reward for action in game.solution()) - 1.0) < 1e-6


class SpadeEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class SpadeEnv(vf.Env[SpadeEnvConfig]):  # type: ignore[misc]
    """Steps the program on this side, in a child process of its own, as the player's user."""

    async def run(self, task: Any, agents: Any) -> None:
        total, detail = 0.0, ""
        with Game(program(task.data.env_id)) as game:
            read = action_reader(Setting(task.data.setting), game.reset(task.data.seed))
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn()
                for _ in range(task.data.max_turns):
                    if segment.terminated:
                        break
                    try:
                        step = game.step(read(Completion(segment.last_reply, "", "")))
                    except GameError as error:
                        detail = str(error)
                        break
                    total += step.reward
                    if step.terminated or step.truncated:
                        break
                    segment = await interaction.turn(step.observation)
        interaction.trace.record_reward("return", total, 1.0)
        interaction.trace.record_metric("won", float(total >= 1.0 - 1e-6))
        if detail:
            interaction.trace.info["program_failed"] = detail


class SpadeTaskset(vf.Taskset[SpadeTask, SpadeConfig]):  # type: ignore[misc]
    """The rows of tasks.jsonl."""

    def load(self) -> Iterator[SpadeTask]:
        for line in (HERE / "tasks.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["split"] == self.config.split:
                data = SpadeData(
                    id=row["row_id"],
                    name=f"{row['env_id']}@{row['seed']}",
                    prompt=row["prompt"],
                    system_prompt=row["system"] or None,
                    env_id=row["env_id"],
                    seed=row["seed"],
                    skill=row["skill"],
                    setting=row["setting"],
                )
                yield SpadeTask(data, self.config.task)


def program(env_id: str) -> Path:
    return HERE / "programs" / f"{env_id}.py"
