"""What `spade evaluate`, `results`, `decontaminate` and `experiment` refuse, and how they say it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def spade(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SPADE_")}
    command = [sys.executable, "-m", "flows.cli", *arguments]
    environment = {**kept, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("evaluate", "--suite", "nothing"), "There is no suite 'nothing'. Use one of reasoning-gym, bfcl"),
        (("evaluate", "--suite", "bfcl:tone=loud"), "The suite bfcl has no option 'tone'"),
        (("results",), "There are no results in var yet."),
        (("results", "--published", "none.toml"), "none.toml cannot be read"),
        (("decontaminate", "--suite", "gpqa-diamond:path=none.csv"), "GPQA-Diamond is not on this machine"),
        (("experiment", "run", "none.toml"), "none.toml cannot be read"),
    ],
)
def test_a_refusal_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    said = spade(*arguments, cwd=tmp_path)
    assert (said.returncode, said.stdout) == (2, "")
    assert sentence in said.stderr
    assert "Traceback" not in said.stderr


def test_unequal_profiles_are_refused_before_anything_runs(tmp_path: Path) -> None:
    grid = 'name = "sizes"\nprofiles = ["default", "starter"]\nseeds = [0]\n[budget]\ncycles = 1\n'
    (tmp_path / "grid.toml").write_text(grid)
    said = spade("experiment", "run", "grid.toml", cwd=tmp_path)
    assert said.returncode == 2
    assert "The profiles have unequal budgets" in said.stderr
    assert not (tmp_path / "var").exists()
