"""Stored batches in other trainers' forms: the same tokens, log-probabilities and advantages, or a refusal."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.data.consumers.make_env import made
from tests.training.tiny import batch_of, random_samples
from training.batch_files import write_batch
from training.samples import Sample

HANDOFF = Path(__file__).resolve().parents[2] / "training" / "handoff"


def plain(count: int = 8) -> list[Sample]:
    return [replace(sample, temperature=1.0) for sample in random_samples(count)]


def run(python: str, program: str, *given: object) -> subprocess.CompletedProcess[str]:
    command = [python, str(HANDOFF / program), *map(str, given)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_slime_is_given_what_was_played(tmp_path: Path) -> None:
    """Fields as slime's `Sample` documents them: a response of one mask and one log-probability a token, and the
    advantage where slime reads its reward."""
    torch = pytest.importorskip("torch")
    samples = plain()
    batch = write_batch(batch_of(samples), tmp_path)

    ended = run(sys.executable, "with_slime.py", batch, "--out", tmp_path / "slime")

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert f"--load-debug-rollout-data {tmp_path}/slime/{{rollout_id}}.pt" in told["flags"]
    assert f"--rollout-batch-size {len(samples)}" in told["flags"]
    rows = torch.load(tmp_path / "slime" / "0.pt", weights_only=True)["samples"]
    for sample, row in zip(samples, rows, strict=True):
        length = row["response_length"]
        assert row["tokens"] == list(sample.ids[: sample.at[-1] + 1])
        assert len(row["loss_mask"]) == len(row["rollout_log_probs"]) == length
        trained = [len(row["tokens"]) - length + n for n, mask in enumerate(row["loss_mask"]) if mask]
        assert trained == list(sample.at)
        kept = [v for v, mask in zip(row["rollout_log_probs"], row["loss_mask"], strict=True) if mask]
        assert kept == list(sample.logprobs)
        assert row["reward"] == sample.advantage
        assert row["weight_versions"] == [sample.weights]


def test_guided_records_and_other_temperatures_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    guided = [replace(sample, temperature=1.0) for sample in random_samples(guided=True)]
    cool = [replace(sample, temperature=0.7) for sample in random_samples()]

    for name, samples in (("guided", guided), ("cool", cool)):
        ended = run(sys.executable, "with_slime.py", write_batch(batch_of(samples), tmp_path), "--out", tmp_path / name)
        assert ended.returncode == 1
        assert "cannot be trained with slime" in ended.stderr
        assert not (tmp_path / name).exists()


@pytest.mark.slow
def test_verl_reads_the_batch_and_its_loss_is_the_methods(tmp_path: Path) -> None:
    """verl's worker wants a GPU; its `DataProto` and its policy loss do not."""
    python = str(made("verl"))
    samples = plain()
    batch = write_batch(batch_of(samples), tmp_path)

    ended = run(python, "with_verl.py", "unused", batch, "--proto", tmp_path / "proto")
    assert ended.returncode == 0, ended.stderr
    read = subprocess.run([python, "-c", _READ, str(tmp_path / "proto")], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    found = json.loads(read.stdout.splitlines()[-1])
    rows: list[dict[str, Any]] = found["rows"]
    assert found["loss"] == pytest.approx(clipped_loss(samples, found["logprobs"]), rel=1e-5)
    for sample, row in zip(samples, rows, strict=True):
        assert row["ids"] == list(sample.ids[: sample.at[-1] + 1])
        assert row["trained"] == [sample.ids[at] for at in sample.at]
        assert row["logprobs"] == pytest.approx(sample.logprobs, abs=1e-6)
        assert row["advantages"] == pytest.approx([sample.advantage] * len(sample.at), abs=1e-6)


def clipped_loss(samples: list[Sample], current: list[list[float]]) -> float:
    """The mean over all trained tokens of -min(ratio x advantage, clipped ratio x advantage) (docs/learning.md)."""
    gains = []
    for sample, values in zip(samples, current, strict=True):
        for before, now in zip(sample.logprobs, values, strict=True):
            ratio = math.exp(now - before)
            gains.append(min(ratio * sample.advantage, min(max(ratio, 0.8), 1.28) * sample.advantage))
    return -sum(gains) / len(gains)


_READ = """
import json, sys
import torch
from verl import DataProto
from verl.trainer.ppo.core_algos import compute_policy_loss_vanilla
from verl.workers.config import ActorConfig
found = DataProto.load_from_disk(sys.argv[1]).batch
mask = found["response_mask"].bool()
torch.manual_seed(0)
current = (found["old_log_probs"] + 0.4 * torch.randn(mask.shape)) * mask
clips = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "clip_ratio_c": 1e9}
config = ActorConfig(strategy="fsdp2", rollout_n=1, ppo_micro_batch_size_per_gpu=1, **clips)
loss, _ = compute_policy_loss_vanilla(
    found["old_log_probs"], current, found["advantages"], mask.float(), "token-mean", config
)
logprobs = [row[where].tolist() for row, where in zip(current, mask)]
rows = []
for n in range(len(found)):
    row, mask = found[n], found[n]["response_mask"].bool()
    rows.append({
        "ids": row["input_ids"][row["attention_mask"].bool()].tolist(),
        "trained": row["responses"][mask].tolist(),
        "logprobs": row["old_log_probs"][mask].tolist(),
        "advantages": row["advantages"][mask].tolist(),
    })
print(json.dumps({"rows": rows, "loss": float(loss), "logprobs": logprobs}))
"""
