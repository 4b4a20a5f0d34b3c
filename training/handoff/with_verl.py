"""Train on a stored batch with verl's training worker. Needs verl and pyarrow; nothing of the factory is imported.

    torchrun --nproc-per-node GPUS with_verl.py MODEL BATCH [--out verl-out] [--micro 8] [--rate 1e-6]
    PYTHON with_verl.py MODEL BATCH --proto FILE           only writes the batch as a verl `DataProto`

MODEL is a transformers folder, BATCH a folder under var/batches. Tokens, log-probabilities and advantages are the
batch's; what the world said in between is masked. Each process takes its share of the rows; loss and clips are the
method's in verl's names. verl's worker runs on GPUs only. Guided records are refused: verl has no notion of what a
guide left to choose from.
"""

import argparse
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch
from verl import DataProto
from verl.utils import tensordict_utils as tu
from verl.workers.config import ActorConfig, FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig, TrainingWorkerConfig
from verl.workers.engine_workers import TrainingWorker
from verl.workers.utils.losses import ppo_loss
from verl.workers.utils.padding import left_right_2_no_padding


def proto_of(rows: list[dict[str, Any]], pad: int) -> DataProto:
    """Prompts of B rows padded on the left to P, responses on the right to R: `input_ids`, `attention_mask` and
    `position_ids` [B, P + R]; `responses`, `response_mask` (trained tokens), `old_log_probs`, `advantages` [B, R]."""
    heads = [row["at"][0] for row in rows]
    ends = [row["at"][-1] + 1 for row in rows]
    before = max(heads)
    after = max(end - head for head, end in zip(heads, ends, strict=True))
    shape, tail = (len(rows), before + after), (len(rows), after)
    ids, seen = torch.full(shape, pad), torch.zeros(shape, dtype=torch.long)
    mask, logprobs, advantages = torch.zeros(tail, dtype=torch.long), torch.zeros(tail), torch.zeros(tail)
    for n, (row, head, end) in enumerate(zip(rows, heads, ends, strict=True)):
        ids[n, before - head : before - head + end] = torch.tensor(row["ids"][:end])
        seen[n, before - head : before - head + end] = 1
        places = torch.tensor(row["at"]) - head
        mask[n, places] = 1
        logprobs[n, places] = torch.tensor(row["logprobs"], dtype=torch.float32)
        advantages[n] = row["advantage"]
    tensors = {
        "prompts": ids[:, :before],
        "responses": ids[:, before:],
        "input_ids": ids,
        "attention_mask": seen,
        "position_ids": (seen.cumsum(-1) - 1).clamp(min=0),
        "response_mask": mask,
        "old_log_probs": logprobs,
        "advantages": advantages * mask,
    }
    return DataProto.from_dict(tensors=tensors, meta_info={"temperature": 1.0})


def worker_of(args: argparse.Namespace, count: int, world: int) -> TrainingWorker:
    """verl's worker over this process's part of the model, with the method's loss."""
    clips = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "clip_ratio_c": 1e9}
    actor = ActorConfig(
        strategy="fsdp2",
        loss_agg_mode="token-mean",
        ppo_mini_batch_size=count,
        ppo_micro_batch_size_per_gpu=args.micro,
        rollout_n=1,
        **clips,
    )
    half = torch.cuda.is_available()
    worker = TrainingWorker(
        TrainingWorkerConfig(
            model_type="language_model",
            model_config=HFModelConfig(path=args.model, use_remove_padding=half),
            engine_config=FSDPEngineConfig(
                strategy="fsdp2",
                fsdp_size=world,
                dtype="bfloat16" if half else "float32",
                use_torch_compile=half,
                micro_batch_size_per_gpu=args.micro,
                use_dynamic_bsz=False,
            ),
            optimizer_config=FSDPOptimizerConfig(
                lr=args.rate, betas=(0.9, 0.98), weight_decay=0.1, total_training_steps=args.updates
            ),
        )
    )
    worker.reset()
    worker.set_loss_fn(partial(ppo_loss, config=actor))
    return worker


def learn(worker: TrainingWorker, proto: DataProto, args: argparse.Namespace, count: int) -> dict[str, Any]:
    """One update over all rows; what verl measured of it."""
    data = left_right_2_no_padding(proto.to_tensordict())
    tu.assign_non_tensor(
        data,
        calculate_entropy=False,
        distillation_use_topk=False,
        distillation_only=False,
        global_batch_size=count,
        mini_batch_size=count,
        epochs=1,
        seed=0,
        dataloader_kwargs={"shuffle": False},
        compute_loss=True,
    )
    return dict(tu.get(worker.train_mini_batch(data=data), "metrics"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("batch", type=Path)
    parser.add_argument("--out", type=Path, default=Path("verl-out"))
    parser.add_argument("--proto", type=Path, help="write the batch as a DataProto to this file, and do no more")
    parser.add_argument("--updates", type=int, default=1)
    parser.add_argument("--micro", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1e-6)
    args = parser.parse_args()
    rows = pq.read_table(args.batch / "samples.parquet").to_pylist()
    if any(choice for row in rows for choice in row["allowed"]) or {row["temperature"] for row in rows} != {1.0}:
        raise SystemExit("Guided records, and draws at another temperature than 1, cannot be trained with verl.")
    if args.proto:
        proto_of(rows, 0).save_to_disk(args.proto)
        print(json.dumps({"file": str(args.proto), "samples": len(rows)}))
        return
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    rows = rows[: len(rows) // (world * args.micro) * world * args.micro]
    worker = worker_of(args, len(rows), world)
    metrics = [learn(worker, proto_of(rows[rank::world], 0), args, len(rows)) for _ in range(args.updates)]
    worker.save_checkpoint(str(args.out))
    if rank == 0:
        print(json.dumps({"updates": metrics}, default=float))


if __name__ == "__main__":
    main()
