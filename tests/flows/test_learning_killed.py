"""`spade self-play` killed for good, and run again: nothing is lost or learned twice."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from data.catalog import Catalog
from tests.flows.test_learning import base  # noqa: F401 - a fixture
from training.checkpoints import Checkpoints, damaged

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


def start(home: Path, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "flows.cli", "self-play", "--cycles", "1", "--rounds", "3", "--slots", "2"]
    command += ["--plays", "4", "--base", f"path:{folder}", "--home", str(home)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0
    )


def test_a_killed_run_of_self_play_is_finished_by_the_next(base: Path, tmp_path: Path) -> None:  # noqa: F811
    process = start(tmp_path, base)
    store = Checkpoints(tmp_path / "checkpoints")
    deadline = time.monotonic() + 240
    while not store.all() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert store.all(), process.stdout.read() if process.stdout else ""

    again = start(tmp_path, base)
    said, _ = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert "Going on from ckpt-" in said
    catalog = Catalog(tmp_path)
    trained = Counter((r["cycle_id"], r["round"]) for r in catalog.query("select cycle_id, round from train_batches"))
    assert sorted(round_ for _, round_ in trained) == [0, 1, 2]
    assert set(trained.values()) == {1}
    plays = [e.episode_id for e in catalog.episodes(arm="plain")]
    assert len(plays) == len(set(plays))
    last = store.latest()
    assert last is not None
    assert not damaged(last)
    assert catalog.query("select count(*) as n from checkpoints")[0]["n"] == 3
