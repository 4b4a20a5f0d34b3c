"""What `spade train` and `spade self-play` refuse, and how they say it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def spade(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "flows.cli", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("command", ["train", "self-play"])
def test_help_says_what_is_needed_and_does_not_need_torch(command: str, tmp_path: Path) -> None:
    said = spade(command, "--help", cwd=tmp_path)
    assert said.returncode == 0
    assert "--base" in said.stdout


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        ("path:/nowhere", "/nowhere is no transformers folder"),
        ("smollm", "training.base cannot be 'smollm'"),
        ("package:unknown", "No packaged model is called 'unknown'"),
    ],
)
def test_a_base_that_is_none_is_one_sentence(base: str, sentence: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
    pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")
    said = spade("train", "--base", base, cwd=tmp_path)
    assert (said.returncode, said.stdout) == (2, "")
    assert sentence in said.stderr
    assert "Traceback" not in said.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        said = spade("train", cwd=tmp_path)
        assert said.returncode == 2
        assert "spade-factory[train]" in said.stderr
    else:
        pytest.skip("the training extra is installed")
