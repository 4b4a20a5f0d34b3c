"""Tasks for reinforcement learning: an environment and a seed a row, in the forms of TRL, verl, slime and NeMo Gym.

Only environments that can teach are taken: measured, with a win rate in a zone. The first observation is the one that
plays of this seed were shown, so no program runs during an export.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.folders import copied, write_program
from data.kinds.base import MESSAGES, ORIGIN, TEXT, Item, origin_of_task, said
from data.selection import Chain, Selection, chains_of, grouped, within
from spade.identity import canonical, digest
from spade.messages import Message

ZONE = (0.15, 0.85)
"""Win rates, ends included, of environments that still teach."""
CALL_TOOL = (
    "You play a game in several turns. What you see first is below; each call of the tool `act` makes one move and "
    "answers with what you see next. Think about each answer, and play until the game ends."
)
"""The system message where moves are tool calls."""
ACT: dict[str, Any] = {
    "name": "act",
    "description": "Make one move in the game.",
    "parameters": {
        "type": "object",
        "properties": {"action": {"type": "string", "description": "The move, in the form the game asks for."}},
        "required": ["action"],
        "additionalProperties": False,
    },
}
"""The one tool of these tasks, as an OpenAI function declaration."""
TASK: list[Any] = [
    *(f for f in ORIGIN if f.name != "episode_id"),
    pa.field("seed", pa.int64()),
    pa.field("win_rate", pa.float64()),
    pa.field("regret", pa.float64()),
]
"""Lineage of a task; `win_rate` and `regret` are those of its environment when it was played."""


@dataclass(frozen=True, slots=True)
class Task:
    """One environment on one seed. `system` and `observation` are what its players saw first."""

    env_id: str
    seed: int
    system: str
    observation: str
    win_rate: float | None
    regret: float | None
    chain: Chain | None
    cycle_id: str
    title: str
    mechanic: str


class TaskKind:
    """The part that all task kinds share: which tasks there are, and their programs beside them."""

    name: str
    modules: Sequence[str] = ()
    """Portable modules that the consumer imports."""

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        """Keys are `environment seed`; each task once, in the first cycle that played it."""
        where, parameters = within(cycle_ids)
        rows = catalog.query(
            f"""select min(cycle_id) as cycle_id, env_id || ' ' || seed as key from (
                select e.cycle_id, e.env_id, e.seed
                from episodes as e join scoreboard as s using (cycle_id, env_id)
                where e.arm = 'plain' and e."return" is not null and e.n_turns > 0
                    and e.blemishes is null and s.win_rate between ? and ?{where}
            ) group by env_id, seed order by 1, env_id, seed""",
            [*ZONE, *parameters],
        )
        return grouped(self.name, rows)

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        ids = sorted({key.split()[0] for key in selection.keys})
        for environment in catalog.environments(env_id=ids):
            write_program(folder, environment)
        for module in self.modules:
            copied(module, folder)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for task in tasks(catalog, selection):
            content = self.content(task)
            text = f"{task.system}\n{task.observation}"
            lineage = {**origin_of_task(task.chain, task.env_id, task.cycle_id), "seed": task.seed}
            lineage |= {"win_rate": task.win_rate, "regret": task.regret}
            facts = {
                "blemishes": 0,
                "content": digest(canonical([task.env_id, task.seed])),
                "observed": len(task.observation),
            }
            yield Item(content, lineage, facts, text)

    def content(self, task: Task) -> Mapping[str, Any]:
        raise NotImplementedError


def tasks(catalog: Catalog, selection: Selection) -> Iterator[Task]:
    """The tasks of a selection, in its order, one cycle in memory at a time."""
    for cycle_id, keys in selection.by_cycle:
        chains = chains_of(catalog, cycle_id)
        rows = catalog.query(
            """select e.env_id, e.seed, min_by(e.system, e.episode_id) as system, e.cycle_id,
                min_by(e.turns[1].observation, e.episode_id) as observation,
                any_value(s.win_rate) as win_rate, any_value(s.regret) as regret,
                any_value(s.title) as title, any_value(n.mechanic) as mechanic
            from episodes as e join scoreboard as s using (cycle_id, env_id) join environments as n using (env_id)
            where e.cycle_id = ? and e.arm = 'plain' and e."return" is not null and e.n_turns > 0
                and e.blemishes is null
            group by e.env_id, e.seed, e.cycle_id""",
            [cycle_id],
        )
        found = {f"{row['env_id']} {row['seed']}": row for row in rows}
        for key in keys:
            yield Task(**found[key], chain=chains.get(found[key]["env_id"]))


@dataclass(frozen=True)
class Grpo(TaskKind):
    """`prompt` and what `SpadeEnv.reset` of spade_trl.py takes (TRL's GRPOTrainer with `environment_factory`)."""

    name: str = "grpo"
    about: str = "A row is a task: the first message of a game, and the program and seed that go on from there."
    tags: tuple[str, ...] = ("trl", "grpo")
    modules: Sequence[str] = ("spade_game.py", "spade_trl.py")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("prompt", MESSAGES), *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        return {"prompt": said([Message("system", CALL_TOOL), Message("user", task.observation)])}


@dataclass(frozen=True)
class Verl(TaskKind):
    """Parquet as verl documents it, for its tool agent loop: `create_kwargs` reach the tool `act`."""

    name: str = "verl"
    about: str = "A row is a task in verl's form; spade_game.py plays the program that the tool `act` is made with."
    tags: tuple[str, ...] = ("verl", "rl")
    modules: Sequence[str] = ("spade_game.py",)

    @property
    def schema(self) -> pa.Schema:
        ids: Any = pa.struct([pa.field("env_id", TEXT), pa.field("seed", pa.int64())])
        act: Any = pa.struct([pa.field("create_kwargs", ids)])
        extra: Any = pa.struct(
            [
                pa.field("split", TEXT),
                pa.field("index", pa.int64()),
                pa.field("need_tools_kwargs", pa.bool_()),
                pa.field("tools_kwargs", pa.struct([pa.field("act", act)])),
            ]
        )
        model: Any = pa.struct([pa.field("style", TEXT), pa.field("ground_truth", TEXT)])
        fields = [pa.field("data_source", TEXT), pa.field("agent_name", TEXT), pa.field("prompt", MESSAGES)]
        more = [pa.field("ability", TEXT), pa.field("reward_model", model), pa.field("extra_info", extra)]
        return pa.schema([*fields, *more, *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        ids = {"env_id": task.env_id, "seed": task.seed}
        return {
            "data_source": "spade",
            "agent_name": "tool_agent",
            "prompt": said([Message("system", CALL_TOOL), Message("user", task.observation)]),
            "ability": task.chain.skill if task.chain else "",
            "reward_model": {"style": "rule", "ground_truth": json.dumps(ids)},
            "extra_info": {
                "split": "train",
                "index": task.seed,
                "need_tools_kwargs": True,
                "tools_kwargs": {"act": {"create_kwargs": ids}},
            },
        }


@dataclass(frozen=True)
class Slime(TaskKind):
    """`prompt`, `label` and `metadata` (slime's --input-key, --label-key, --metadata-key); moves stand in a box."""

    name: str = "slime"
    about: str = "A row is a task: prompt, a label that names program and seed, and metadata."
    tags: tuple[str, ...] = ("slime", "rl")
    modules: Sequence[str] = ("spade_game.py",)

    @property
    def schema(self) -> pa.Schema:
        metadata: Any = pa.struct(
            [pa.field("env_id", TEXT), pa.field("seed", pa.int64()), pa.field("skill", TEXT), pa.field("arm", TEXT)]
        )
        return pa.schema([pa.field("prompt", MESSAGES), pa.field("label", TEXT), pa.field("metadata", metadata), *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        system = [Message("system", task.system)] if task.system else []
        return {
            "prompt": said([*system, Message("user", task.observation)]),
            "label": f"{task.env_id}@{task.seed}",
            "metadata": {
                "env_id": task.env_id,
                "seed": task.seed,
                "skill": task.chain.skill if task.chain else "",
                "arm": "plain",
            },
        }
