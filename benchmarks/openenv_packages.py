"""Programs as OpenEnv packages, as the exporter lays them out, with a runtime plan of a few ordinary actions."""

import json
import shutil
from pathlib import Path

from data.folders import copied, placed
from data.pages import rendered

FILES = (
    "__init__.py",
    "models.py",
    "client.py",
    "server/__init__.py",
    "server/app.py",
    "server/game_environment.py",
    "oracle/solve.py",
)
EXECUTION = """  execution:
    kind: openenv_ws
    probe_path: validation/runtime.json
    dockerfile: server/Dockerfile
"""
ACTIONS = ("0", "1 2 3", "hello")


def package(folder: Path, code: str) -> None:
    """A package whose server may use the network, since a process on this machine is not kept from it."""
    for name in FILES:
        copied(f"openenv/{name}", folder, name)
    copied("spade_game.py", folder / "server")
    placed(folder / "server" / "program.py", code)
    (folder / "canaries").mkdir()
    values = {"name": "spade_benchmark", "skill": "optimization", "designer": "", "slot_seed": 0}
    manifest = rendered("openenv.yaml.j2", **values).replace("mode: no-network", "mode: public")
    placed(folder / "openenv.yaml", manifest.rstrip() + "\n" + EXECUTION)
    placed(folder / "server" / "Dockerfile", rendered("openenv_Dockerfile.j2"))
    plan = {
        "plan_schema_version": "1",
        "reset": {"episode_id": "benchmark", "seed": 7},
        "actions": [{"action": action} for action in ACTIONS],
    }
    placed(folder / "validation" / "runtime.json", json.dumps(plan))


def packages(place: Path, programs: dict[str, str]) -> Path:
    """A folder with one package a program, named by number; the order is that of `programs`."""
    shutil.rmtree(place, ignore_errors=True)
    for number, code in enumerate(programs.values()):
        package(place / f"p{number:03d}", code)
    return place
