"""Several processes train as one does: the same weights, figures and checkpoints, here on a processor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from tests.training.several import trained  # noqa: E402
from training.checkpoints import Checkpoints  # noqa: E402
from training.packing import Micro  # noqa: E402
from training.spread import Spread  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


@given(st.integers(0, 20), st.integers(1, 5))
def test_every_micro_batch_is_counted_once_and_all_processes_have_equally_many(count: int, world: int) -> None:
    micros = [Micro(number + 1, ((number,),)) for number in range(count)]
    shares = [list(Spread(rank, world).share(micros)) for rank in range(world)]

    assert len({len(share) for share in shares}) == 1
    counted = [micro.width for share in shares for micro, factor in share if factor]
    assert sorted(counted) == [micro.width for micro in micros]
    assert {factor for share in shares for _, factor in share} <= {0.0, float(world)}


def several(folder: Path, updates: int, form: str, processes: int = 2) -> None:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, *command, str(ROOT / "tests/training/several.py"), str(folder), str(updates), form],
        capture_output=True,
        text=True,
        env=environment,
        timeout=280,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]


def state(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the newest checkpoint trained, and the report of its update."""
    last = Checkpoints(folder, base="tiny").latest()
    assert last is not None
    held = torch.load(last.folder / "trainer.pt", weights_only=True)
    flat = {f"{part}/{name}": value for part, values in held["trained"].items() for name, value in values.items()}
    return flat, json.loads((last.folder / "state.json").read_text())["report"]


@pytest.mark.parametrize("form", ["full", "lora"])
def test_two_processes_come_to_the_weights_and_figures_of_one(tmp_path: Path, form: str) -> None:
    trained(tmp_path / "one", 1, form)
    several(tmp_path / "two", 1, form)

    (alone, report), (shared, other) = state(tmp_path / "one"), state(tmp_path / "two")
    assert alone.keys() == shared.keys()
    for name, value in alone.items():
        assert torch.allclose(value, shared[name], atol=2e-5), name
    for role, figures in report["roles"].items():
        assert other["roles"][role] == pytest.approx(figures, rel=1e-3, abs=1e-5)


def test_a_checkpoint_of_one_process_goes_on_in_two(tmp_path: Path) -> None:
    """Weights, optimisers, averages and first weights are spread anew. AdamW makes whole steps of gradients that are 0
    but for rounding, so that a few weights may differ by more than rounding does."""
    trained(tmp_path / "alone", 2, "full")
    trained(tmp_path / "mixed", 1, "full")
    several(tmp_path / "mixed", 2, "full")

    (alone, report), (mixed, other) = state(tmp_path / "alone"), state(tmp_path / "mixed")
    apart = torch.cat([(value - mixed[name]).abs().flatten() for name, value in alone.items()])
    assert (apart > 2e-5).float().mean() < 0.001
    assert other["roles"]["agent"] == pytest.approx(report["roles"]["agent"], rel=1e-3, abs=1e-5)
