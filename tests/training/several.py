"""A learner of several processes, for test_spread: started by torchrun, makes updates and saves after each.

torchrun --nproc-per-node N several.py FOLDER UPDATES FORM      FORM: full, lora
"""

import os
import sys
from pathlib import Path
from typing import Any

import torch

from spade.messages import Role
from spade.training_settings import LoraSettings, RoleTraining, TrainingSettings
from tests.training.tiny import batch_of, random_samples, tiny_model
from training.checkpoints import Checkpoints, restore
from training.learner import Learner
from training.policy import policy_of
from training.reference import keep_first
from training.spread import shard


def learner_of(form: str, **more: Any) -> Learner:
    """Own designer, KL, entropy target, averages and decay are on, so that all of it is spread."""
    agent = RoleTraining(learning_rate=1e-2, minibatches=2, kl=0.01, entropy_target=2.0)
    settings = TrainingSettings(
        agent=agent,
        designer=RoleTraining(learning_rate=3e-2, epochs=2),
        separate_designer=True,
        average=0.5,
        decay_updates=10,
        micro_tokens=64,
        lora=LoraSettings(rank=2) if form == "lora" else None,
        **more,
    )
    torch.manual_seed(0)
    designer = None if form == "lora" else tiny_model(1, tied=True)
    policy = policy_of(tiny_model(1, tied=True), None, settings, designer=designer)
    shard(policy)
    learner = Learner(policy, settings, seed=5)
    keep_first(learner)
    return learner


def trained(folder: Path, updates: int, form: str) -> Learner:
    """From the newest checkpoint in `folder`, if there is one, to so many updates; each leaves a checkpoint."""
    store, learner = Checkpoints(folder, base="tiny", keep=9), learner_of(form)
    last = store.latest()
    if last is not None:
        restore(learner, last)
    while learner.updates < updates:
        number = learner.updates
        batch = batch_of(random_samples(7, seed=number) + random_samples(5, seed=100 + number, role=Role.DESIGNER))
        report = learner.update(batch)
        store.save(learner, batch_id=batch.batch_id, parent="", state={"report": report.json()})
    return learner


if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    torch.set_num_threads(1)
    trained(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    os._exit(0)
