"""Checkpoints: whole or absent, the same bits after any interruption, and loadable by others."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
transformers = pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from spade.errors import Abort  # noqa: E402
from spade.messages import Role  # noqa: E402
from spade.training_settings import LoraSettings, RoleTraining, TrainingSettings  # noqa: E402
from tests.training.tiny import batch_of, random_samples, tiny_model  # noqa: E402
from training.averaging import served_state  # noqa: E402
from training.checkpoints import Checkpoints, damaged, export_merged, restore, weights_name  # noqa: E402
from training.learner import Learner  # noqa: E402
from training.policy import policy_of  # noqa: E402
from training.reference import keep_first  # noqa: E402

UPDATES = 6


def fresh_learner(lora: bool = False, **more: Any) -> Learner:
    """Everything that a checkpoint has to carry is switched on: own designer, KL, entropy target, averages, decay."""
    agent = RoleTraining(learning_rate=1e-2, minibatches=2, kl=0.01, entropy_target=2.0)
    designer = RoleTraining(learning_rate=3e-2, epochs=2)
    settings = TrainingSettings(
        agent=agent,
        designer=designer,
        separate_designer=True,
        average=0.5,
        decay_updates=10,
        lora=LoraSettings(rank=2) if lora else None,
        **more,
    )
    learner = Learner(
        policy_of(tiny_model(1), None, settings, designer=None if lora else tiny_model(1)), settings, seed=5
    )
    keep_first(learner)
    return learner


def update(learner: Learner) -> str:
    """The next update of a run whose batches depend on its number alone."""
    number = learner.updates
    batch = batch_of(random_samples(6, seed=number) + random_samples(4, seed=100 + number, role=Role.DESIGNER))
    learner.update(batch)
    return batch.batch_id


def run(folder: Path, updates: int, pause: float = 0.0) -> str:
    """Go on from the newest checkpoint to `updates`, saving after each; the name of the last weights."""
    store, learner = Checkpoints(folder, base="tiny", keep=2), fresh_learner()
    last = store.latest()
    if last is not None:
        restore(learner, last)
    parent = last.record.checkpoint_id if last else ""
    while learner.updates < updates:
        batch_id = update(learner)
        parent = store.save(
            learner, batch_id=batch_id, parent=parent, state={"cycle": learner.updates}
        ).record.checkpoint_id
        print(f"update {learner.updates}", flush=True)
        time.sleep(pause)
    return weights_name(learner)


@pytest.mark.parametrize("lora", [False, True])
def test_a_restored_learner_goes_on_bit_for_bit(tmp_path: Path, lora: bool) -> None:
    one, store = fresh_learner(lora), Checkpoints(tmp_path)
    for _ in range(3):
        batch_id = update(one)
    saved = store.save(one, batch_id=batch_id, parent="", state={"corpus": 7})
    two = fresh_learner(lora)
    restore(two, saved)
    for each in (one, two):
        update(each)

    assert saved.state == {"corpus": 7}
    assert weights_name(one) == weights_name(two)
    assert one.entropy_weights == two.entropy_weights
    for part in ("agent", "designer"):
        served = served_state(two, part)
        assert all(torch.equal(value, served[name]) for name, value in served_state(one, part).items())


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_with_the_same_bits(tmp_path: Path) -> None:
    expected = run(tmp_path / "whole", UPDATES)
    folder = tmp_path / "killed"
    command = [
        sys.executable,
        "-c",
        f"from tests.training.test_checkpoints import *; run(Path({str(folder)!r}), {UPDATES}, 0.05)",
    ]
    for kill_after in (1, 2, 1):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(kill_after):
            assert process.stdout.readline().startswith("update")
        time.sleep(0.03 * kill_after)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 0 < len(Checkpoints(folder).all()) <= 3
    assert run(folder, UPDATES) == expected
    assert not list(folder.glob(".making-*"))


def test_other_programs_load_what_was_saved(tmp_path: Path) -> None:
    """transformers reads the folder back with the weights that play, here the averaged ones."""
    learner, store = fresh_learner(), Checkpoints(tmp_path)
    saved = store.save(learner, batch_id=update(learner), parent="")
    loaded = transformers.AutoModelForCausalLM.from_pretrained(saved.folder / "model", dtype=torch.float32)
    served = served_state(learner, "agent")
    assert all(torch.equal(value, served[name]) for name, value in loaded.state_dict().items())
    assert list((saved.folder / "model").glob("*.safetensors"))


def test_adapters_load_in_peft_and_merged_in_transformers(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="needs the extra: spade-factory[train]")
    settings = TrainingSettings(agent=RoleTraining(learning_rate=1e-2), lora=LoraSettings(rank=2))
    learner = Learner(policy_of(tiny_model(1), None, settings), settings)
    saved = Checkpoints(tmp_path / "store").save(learner, batch_id=update(learner), parent="")
    merged = export_merged(learner, tmp_path / "merged")
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    ours = learner.policy.use("agent").model(ids).logits

    loaded = transformers.AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
    adapted = peft.PeftModel.from_pretrained(tiny_model(1), saved.folder / "adapters" / "agent")
    assert torch.allclose(loaded(ids).logits, ours, atol=1e-5)
    assert torch.allclose(adapted(ids).logits, ours, atol=1e-5)
    assert not torch.allclose(tiny_model(1)(ids).logits, ours, atol=1e-3)


def test_retention_keeps_the_latest_and_every_nth(tmp_path: Path) -> None:
    learner, store = fresh_learner(), Checkpoints(tmp_path, keep=2, keep_every=3)
    for _ in range(6):
        store.save(learner, batch_id=update(learner), parent="")
    assert [s.record.update for s in store.all()] == [3, 5, 6]


def test_damaged_checkpoints_are_passed_over_and_refused(tmp_path: Path) -> None:
    learner, store = fresh_learner(), Checkpoints(tmp_path)
    first = store.save(learner, batch_id=update(learner), parent="")
    second = store.save(learner, batch_id=update(learner), parent=first.record.checkpoint_id)
    weights = next((second.folder / "model").glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")

    assert damaged(second)
    assert store.latest() == first
    with pytest.raises(Abort, match="damaged"):
        restore(fresh_learner(), second)


def test_a_manifest_says_where_weights_come_from(tmp_path: Path) -> None:
    learner, store = fresh_learner(), Checkpoints(tmp_path, base="tiny")
    batch_id = update(learner)
    saved = store.save(learner, batch_id=batch_id, parent="ckpt-before")
    told = json.loads((saved.folder / "manifest.json").read_text("utf-8"))
    assert (told["batch_id"], told["parent"], told["base"], told["update"]) == (batch_id, "ckpt-before", "tiny", 1)
    assert told["id"] == saved.record.checkpoint_id


def test_other_settings_are_refused(tmp_path: Path) -> None:
    saved = Checkpoints(tmp_path).save(fresh_learner(), batch_id="", parent="")
    settings = TrainingSettings(lora=LoraSettings(rank=3))
    with pytest.raises(Abort, match="does not fit"):
        restore(Learner(policy_of(tiny_model(1), None, settings), settings), saved)
