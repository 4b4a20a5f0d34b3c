"""Environments as packages that other tools install and run: Gymnasium, verifiers, OpenEnv, Harbor.

The rows are tasks, as in `data.kinds.tasks`; the packages stand beside them and need nothing of ours.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.folders import copied, placed
from data.kinds.base import MESSAGES, TEXT, said
from data.kinds.tasks import ACT, CALL_TOOL, TASK, Task, TaskKind, tasks
from data.pages import markdown_text, rendered
from data.selection import Selection
from spade.environments import Environment
from spade.gates.openenv import report_v2
from spade.messages import Message
from spade.settings import GateSettings

CANARIES = 5
"""Lost plays shipped with an environment, for tools that check that losing does not pay."""
MAX_TURNS = 25
READING = ("acting", "boxes", "identity", "json_texts", "messages", "skills", "tool_calls")
"""The modules that read replies, which need one another and the standard library alone."""


@dataclass(frozen=True)
class Gymnasium(TaskKind):
    """`register_all()` of spade_gymnasium.py makes every program a Gymnasium environment."""

    name: str = "gymnasium"
    about: str = "A row is a task; spade_gymnasium.py registers the programs with Gymnasium."
    tags: tuple[str, ...] = ("gymnasium", "rl")
    modules: Sequence[str] = ("spade_game.py", "spade_gymnasium.py")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("observation", TEXT), *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        return {"observation": task.observation}


@dataclass(frozen=True)
class Verifiers(TaskKind):
    """The package `spade_tasks`, a verifiers taskset over all rows."""

    name: str = "verifiers"
    about: str = "A row is a task; the package spade_tasks beside it is a verifiers taskset over all of them."
    tags: tuple[str, ...] = ("verifiers", "rl")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("prompt", TEXT), pa.field("system", TEXT), *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        return {"prompt": task.observation, "system": task.system}

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        package = folder / "spade_tasks"
        super().accompany(package, catalog, selection)
        copied("spade_game.py", package)
        copied("spade_verifiers.py", package, "taskset.py")
        for module in READING:
            text = files("spade").joinpath(f"{module}.py").read_text("utf-8")
            placed(package / "reading" / f"{module}.py", text.replace("from spade.", "from ."))
        placed(package / "reading" / "__init__.py", '"""From replies to moves."""\n')
        placed(package / "__init__.py", rendered("verifiers_init.py.j2"))
        placed(folder / "pyproject.toml", rendered("verifiers_pyproject.toml.j2"))
        lines = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.jsonl")))
        placed(package / "tasks.jsonl", lines)


@dataclass(frozen=True)
class NemoGym(TaskKind):
    """NeMo Gym rows: `responses_create_params` with the flattened tool of the Responses API, and ids for the server."""

    name: str = "nemo-gym"
    about: str = "A row is a task as NeMo Gym reads it; a resources server plays the program with spade_game.py."
    tags: tuple[str, ...] = ("nemo-gym", "rl")
    modules: Sequence[str] = ("spade_game.py",)

    @property
    def schema(self) -> pa.Schema:
        action: Any = pa.struct([pa.field("type", TEXT), pa.field("description", TEXT)])
        parameters: Any = pa.struct(
            [
                pa.field("type", TEXT),
                pa.field("properties", pa.struct([pa.field("action", action)])),
                pa.field("required", pa.list_(TEXT)),
                pa.field("additionalProperties", pa.bool_()),
            ]
        )
        tool: Any = pa.struct(
            [
                *(pa.field(name, TEXT) for name in ("type", "name", "description")),
                pa.field("parameters", parameters),
                pa.field("strict", pa.bool_()),
            ]
        )
        asked: Any = pa.struct(
            [
                pa.field("input", MESSAGES),
                pa.field("tools", pa.list_(tool)),
                pa.field("parallel_tool_calls", pa.bool_()),
            ]
        )
        return pa.schema([pa.field("responses_create_params", asked), *TASK])

    def content(self, task: Task) -> Mapping[str, Any]:
        asked = {
            "input": said([Message("system", CALL_TOOL), Message("user", task.observation)]),
            "tools": [{"type": "function", **ACT, "strict": False}],
            "parallel_tool_calls": False,
        }
        return {"responses_create_params": asked}


@dataclass(frozen=True)
class OpenEnv(Gymnasium):
    """One package an environment under openenv/: server, client, `openenv.yaml`, oracle, canaries."""

    name: str = "openenv"
    about: str = "A row is a task; openenv/ has one package an environment, with oracle and canaries."
    tags: tuple[str, ...] = ("openenv", "rl")

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        for environment, task in _environments(catalog, selection):
            _openenv_package(folder / "openenv" / _package(environment), catalog, environment, task)


def _openenv_package(folder: Path, catalog: Catalog, environment: Environment, task: Task) -> None:
    values = {
        "name": _package(environment),
        "env_id": environment.env_id,
        "title": markdown_text(environment.title) or environment.env_id,
        "skill": environment.skill.value,
        "designer": task.chain.designer if task.chain else "",
        "slot_seed": task.chain.slot_seed if task.chain else 0,
    }
    for name in ("__init__.py", "models.py", "client.py", "server/__init__.py", "server/app.py",
                 "server/game_environment.py", "oracle/solve.py"):  # fmt: skip
        copied(f"openenv/{name}", folder, name)
    copied("spade_game.py", folder / "server")
    placed(folder / "server" / "program.py", environment.code)
    placed(folder / "server" / "requirements.txt", "openenv>=0.2.2\nfastapi\nuvicorn\nwebsockets\n")
    placed(folder / "server" / "Dockerfile", rendered("openenv_Dockerfile.j2"))
    placed(folder / "openenv.yaml", rendered("openenv.yaml.j2", **values))
    placed(folder / "pyproject.toml", rendered("openenv_pyproject.toml.j2", **values))
    placed(folder / "README.md", rendered("openenv_README.md.j2", **values))
    verdicts = [v for a in catalog.attempts(env_id=[environment.env_id]) if a.accepted for v in a.verdicts]
    if verdicts:
        report = report_v2(environment.code, verdicts, GateSettings(), skill=environment.skill.value)
        placed(folder / "validation" / "gates.json", json.dumps(report, indent=2) + "\n")
    lines = [json.dumps(canary, ensure_ascii=False) + "\n" for canary in _canaries(catalog, environment.env_id)]
    placed(folder / "canaries" / "lost.jsonl", "".join(lines))


def _canaries(catalog: Catalog, env_id: str) -> list[dict[str, Any]]:
    """Plays that lost: seed, actions and return."""
    return catalog.query(
        f"""select seed, list_transform(turns, lambda t: t.action) as actions, "return" from episodes
        where env_id = ? and won = false and n_turns > 0 and blemishes is null
        order by episode_id limit {CANARIES}""",
        [env_id],
    )


@dataclass(frozen=True)
class Harbor(Gymnasium):
    """One Harbor task a row under harbor/: the game is served by root, played by the agent's user, scored by replay."""

    name: str = "harbor"
    about: str = "A row is a task; harbor/ has one Harbor task a row."
    tags: tuple[str, ...] = ("harbor", "rl")

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        for cycle_id, keys in selection.by_cycle:
            codes = {e.env_id: e for e in catalog.environments(env_id=sorted({key.split()[0] for key in keys}))}
            for task in tasks(catalog, Selection(self.name, ((cycle_id, keys),))):
                _harbor_task(folder / "harbor" / f"{task.env_id}-{task.seed}", codes[task.env_id], task)


def _harbor_task(folder: Path, environment: Environment, task: Task) -> None:
    facts = json.dumps({"seed": task.seed, "max_turns": MAX_TURNS}) + "\n"
    values = {"env_id": task.env_id, "seed": task.seed, "skill": environment.skill.value}
    placed(folder / "task.toml", rendered("harbor_task.toml.j2", **values))
    placed(folder / "instruction.md", rendered("harbor_instruction.md.j2", observation=task.observation))
    for part in ("environment", "solution"):
        for module in ("spade_game.py", "spade_harbor.py"):
            copied(module, folder / part)
        placed(folder / part / "program.py", environment.code)
        placed(folder / part / "task.json", facts)
    placed(folder / "environment" / "Dockerfile", rendered("harbor_Dockerfile.j2"))
    for path in ("environment/start.sh", "environment/play.py", "solution/solve.sh", "tests/test.sh"):
        placed(folder / path, rendered(f"harbor_{path.split('/')[1]}.j2"), executable=True)


def _environments(catalog: Catalog, selection: Selection) -> list[tuple[Environment, Task]]:
    """Each environment of a selection once, with its first task."""
    first: dict[str, Task] = {}
    for task in tasks(catalog, selection):
        first.setdefault(task.env_id, task)
    return [(e, first[e.env_id]) for e in catalog.environments(env_id=sorted(first))]


def _package(environment: Environment) -> str:
    return "spade_" + environment.env_id.removeprefix("env-")
