"""Datasets and packages at their first try in the tools they are for."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.export import Plan, export
from tests.data.consumers.conftest import ran
from tests.data.consumers.make_env import made
from tests.data.documented import snippets
from tests.data.tool_records import desk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SNIPPETS = snippets("python")
IN = {"gymnasium": "gymnasium"}
"""Environments of snippets; that of datasets for all others."""


@pytest.mark.parametrize("kind", SNIPPETS)
def test_every_documented_snippet_runs(exported: dict[str, Path], kind: str) -> None:
    program = f"import sys\nFOLDER = sys.argv[1]\n{SNIPPETS[kind]}"
    assert ran(IN.get(kind, "datasets"), program, exported[kind]) or "assert" in program


def documented(kind: str, **names: object) -> list[str]:
    """The kind's shell lines, as a person would type them with these names in place."""
    text = snippets("sh")[kind]
    for name, value in names.items():
        assert name.replace("_", ":") in text
        text = text.replace(name.replace("_", ":"), str(value))
    return text.splitlines()


def in_shell(consumer: str, lines: list[str], place: Path, **environment: str) -> str:
    """What the lines print, typed one after another in a consumer's environment; the first that fails ends them."""
    ran(consumer, "print('there')")
    scripts = made(consumer).parent
    said = subprocess.run(
        ["/bin/sh", "-e"],
        input="trap 'kill $! 2>/dev/null || true' EXIT\n" + "\n".join(lines),
        cwd=place,
        env={**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    return said.stdout


def test_rows_are_the_same_in_datasets(exported: dict[str, Path]) -> None:
    """Parquet through the card, JSON lines by hand: equal rows, and no nulls injected into messages."""
    program = """
import json, sys
from datasets import load_dataset
for folder in sys.argv[1:]:
    rows = load_dataset(folder, split="train").to_list()
    with open(folder + "/train.jsonl", encoding="utf-8") as file:
        assert rows == [json.loads(line) for line in file], folder
    for row in rows:
        for value in row.values():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                assert all(set(message) == {"role", "content"} for message in value), folder
print(len(sys.argv) - 1)
"""
    folders = [
        exported[kind] for kind in ("sft", "prompt-completion", "dpo", "kto", "grpo", "slime", "verl", "nemo-gym")
    ]
    assert ran("datasets", program, *folders).strip() == "8"


def test_tool_calls_are_the_same_in_datasets(tmp_path: Path) -> None:
    """Every message, call and schema with its own keys: no nulls injected, none that were said lost."""
    catalog = Catalog(tmp_path / "home")
    desk(catalog)
    made_here = export(catalog, tmp_path, Plan("sft-tools", "calls"))
    assert made_here is not None
    assert ran("datasets", TOOL_ROWS, made_here.folder).strip() == "2 equal rows"


TOOL_ROWS = """
import json, sys
from datasets import load_dataset
rows = load_dataset(sys.argv[1], split="train").to_list()
with open(sys.argv[1] + "/train.jsonl", encoding="utf-8") as file:
    assert rows == [json.loads(line) for line in file]
assert set(rows[0]["messages"][1]) == {"role", "content"}
print(len(rows), "equal rows")
"""


def test_the_card_is_valid(exported: dict[str, Path]) -> None:
    program = """
import sys
from huggingface_hub import DatasetCard
card = DatasetCard.load(sys.argv[1] + "/README.md")
assert card.data.configs[0]["data_files"][0]["split"] == "train", card.data
assert "spade" in card.data.tags
print(card.data.license)
"""
    assert ran("datasets", program, exported["sft"]).strip() == "other"


def test_gymnasium_checks_every_program(exported: dict[str, Path]) -> None:
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import gymnasium, spade_gymnasium
from gymnasium.utils.env_checker import check_env
for name in spade_gymnasium.register_all():
    env = gymnasium.make(name)
    check_env(env.unwrapped, skip_render_check=True)
    first, _ = env.reset(seed=7)
    assert env.reset(seed=7)[0] == first and env.observation_space.contains(first)
    total = sum(env.step(str(n))[1] for n in range(1, 6))
    env.close()
print("checked", total)
"""
    assert "checked" in ran("gymnasium", program, exported["gymnasium"])


def test_verifiers_validates_and_plays_against_an_endpoint(exported: dict[str, Path], tmp_path: Path) -> None:
    """The documented lines, against a stub that counts up, which wins some games."""
    stub = [sys.executable, str(Path(__file__).with_name("stub_endpoint.py"))]
    with subprocess.Popen(stub, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        address = f"127.0.0.1:{endpoint.stdout.readline().strip()}"
        names = {"FOLDER": exported["verifiers"], "MODEL": "stub", "HOST_PORT": address, "NAME": "KEY"}
        *lines, evaluate = documented("verifiers", **names)
        # The player's chat program is a uv script: uv finds its packages as this user has set it up.
        said = in_shell("verifiers", [*lines, f"{evaluate} --no-rich -o out </dev/null"], tmp_path, KEY="x")
        endpoint.kill()
    assert '"valid": 4' in said, said[-2000:]
    (traces,) = (tmp_path / "out").glob("*/traces.jsonl")
    returns = [float(found) for found in re.findall(r'"return":\{"score":([\d.]+)', traces.read_text())]
    assert len(returns) == 4
    assert set(returns) <= {0.0, 1.0}
    assert max(returns) == 1.0


def test_openenv_is_served_and_solved_as_documented(exported: dict[str, Path], tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = documented("openenv", FOLDER=exported["openenv"])
    said = in_shell("openenv", [line.replace("8000", str(port)) for line in lines], tmp_path)
    assert '"healthy"}1.0\n' in said, "the oracle's return stands behind the server's health"


def test_openenv_validates_serves_and_is_played(exported: dict[str, Path]) -> None:
    """The manifest by its own command; then the server, its own client, and the oracle over the wire."""
    (package,) = (exported["openenv"] / "openenv").iterdir()
    program = """
import asyncio, importlib, os, socket, subprocess, sys, time, urllib.request
package, scripts = sys.argv[1], os.path.dirname(sys.executable)
said = subprocess.run([scripts + "/openenv", "validate", package, "--level", "static", "--skip-build"], text=True,
                      capture_output=True, stdin=subprocess.DEVNULL)
assert said.returncode == 0 and "Verdict: PASS" in said.stdout, said.stdout + said.stderr
with socket.socket() as s:
    s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
base = f"http://127.0.0.1:{port}"
serve = [scripts + "/uvicorn", "server.app:app", "--port", str(port)]
server = subprocess.Popen(serve, cwd=package, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(300):
        try:
            urllib.request.urlopen(base + "/health", timeout=1); break
        except OSError:
            time.sleep(0.2)
    oracle = subprocess.run([sys.executable, package + "/oracle/solve.py", base], text=True, capture_output=True)
    assert oracle.stdout.strip() == "1.0", oracle.stderr
    sys.path.insert(0, os.path.dirname(package))
    module = importlib.import_module(os.path.basename(package))
    with module.SpadeEnv(base_url=base).sync() as env:
        first = env.reset(seed=7).observation.text
        assert first == env.reset(seed=7).observation.text and "1 to 9" in first
        results = [env.step(module.SpadeAction(action="0")) for _ in range(5)]
    assert [r.done for r in results] == [False] * 4 + [True] and sum(r.reward for r in results) == 0
finally:
    server.kill()
print("played")
"""
    assert ran("openenv", program, package).strip() == "played"


def test_harbor_reads_tasks_and_trajectories(exported: dict[str, Path]) -> None:
    program = """
import json, sys
from pathlib import Path
from harbor.models.task.config import TaskConfig
from harbor.models.trajectories.trajectory import Trajectory
tasks = sorted((Path(sys.argv[1]) / "harbor").iterdir())
for task in tasks:
    config = TaskConfig.model_validate_toml((task / "task.toml").read_text())
    assert config.agent.user == "agent" and config.environment.network_mode.value == "no-network"
    assert (task / "instruction.md").exists() and (task / "tests" / "test.sh").exists()
lines = (Path(sys.argv[2]) / "train.jsonl").read_text().splitlines()
for line in lines:
    Trajectory.model_validate(json.loads(json.loads(line)["trajectory"]))
print(len(tasks), len(lines))
"""
    assert ran("harbor", program, exported["harbor"], exported["atif"]).strip() == "4 12"
