"""One update by several processes, one a GPU: what `training.launching` starts under torch's launcher.

Its orders are a JSON file: `base` (transformers folder), `training` (settings), `seed`, `checkpoints` (folder), `name`
(of the base), `batch` (folder), `parent`, `state`, `report` (file to write). Goes on from the newest checkpoint and
leaves the next one.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from spade.errors import SpadeError
from spade.training_settings import TrainingSettings
from training.batch_files import read_batch
from training.checkpoints import Checkpoints, resumed


def update(orders: dict[str, Any]) -> None:
    """Load, update, save; the first process writes."""
    training = TrainingSettings.model_validate(orders["training"])
    store = Checkpoints(Path(orders["checkpoints"]), orders["name"], training.keep, training.keep_every)
    learner = resumed(store.latest(), Path(orders["base"]), training, orders["seed"])
    batch = read_batch(Path(orders["batch"]))
    report = learner.update(batch)
    store.save(learner, batch_id=batch.batch_id, parent=orders["parent"], state=orders["state"])
    if learner.spread.leads:
        Path(orders["report"]).write_text(json.dumps(report.json()), "utf-8")


def main() -> None:
    on_gpu = torch.cuda.is_available()
    torch.distributed.init_process_group("nccl" if on_gpu else "gloo")
    if on_gpu:
        torch.cuda.set_device(torch.distributed.get_node_local_rank())
    try:
        update(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    except SpadeError as error:
        print(f"spade: {error}", file=sys.stderr, flush=True)
        sys.exit(2)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
