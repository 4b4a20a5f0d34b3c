"""Train on a stored batch with TRL's GRPOTrainer. Needs trl, datasets and pyarrow; nothing of the factory is imported.

    PYTHON with_trl.py MODEL BATCH [--out FOLDER] [--updates 1] [--micro 8] [--rate 1e-6] [--threads N]

MODEL is a transformers folder, BATCH a folder under var/batches. Completions, log-probabilities and advantages are the
batch's; what the world said in between is masked. Guided records are refused: TRL has no notion of what a guide left
to choose from. Prints one JSON line: seconds of each update and the peak of memory.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch
from datasets import Dataset
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class StoredPlays(GRPOTrainer):
    """Takes completions, log-probabilities and advantages from a batch instead of generating."""

    rows: list[dict[str, Any]]

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        heads = [row["at"][0] for row in self.rows]
        prompts = [row["ids"][:head] for row, head in zip(self.rows, heads, strict=True)]
        tails = [row["ids"][head:] for row, head in zip(self.rows, heads, strict=True)]
        before, after, pad = max(map(len, prompts)), max(map(len, tails)), self.processing_class.pad_token_id
        first, rest = (len(self.rows), before), (len(self.rows), after)
        values: dict[str, Any] = {
            "prompt_ids": torch.full(first, pad),
            "prompt_mask": torch.zeros(first, dtype=torch.long),
            "completion_ids": torch.full(rest, pad),
            "completion_mask": torch.zeros(rest, dtype=torch.long),
            "tool_mask": torch.zeros(rest, dtype=torch.long),
            "old_per_token_logps": torch.zeros(rest),
        }
        for n, (row, prompt, tail) in enumerate(zip(self.rows, prompts, tails, strict=True)):
            values["prompt_ids"][n, before - len(prompt) :] = torch.tensor(prompt)
            values["prompt_mask"][n, before - len(prompt) :] = 1
            values["completion_ids"][n, : len(tail)] = torch.tensor(tail)
            values["completion_mask"][n, : len(tail)] = 1
            places = torch.tensor(row["at"]) - row["at"][0]
            values["tool_mask"][n, places] = 1
            values["old_per_token_logps"][n, places] = torch.tensor(row["logprobs"], dtype=torch.float32)
        values["advantages"] = torch.tensor([row["advantage"] for row in self.rows], dtype=torch.float32)
        values["num_items_in_batch"] = values["tool_mask"].sum()
        return values


class Clock(TrainerCallback):
    """Seconds of each update; the gradient of the first, where it is wanted."""

    def __init__(self, gradient: Path | None) -> None:
        self.seconds: list[float] = []
        self.started = 0.0
        self.gradient = gradient

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.started = time.perf_counter()

    def on_pre_optimizer_step(self, *_: Any, model: Any = None, **__: Any) -> None:
        if self.gradient is not None and not self.seconds:
            parts = [p.grad.flatten() for _, p in sorted(model.named_parameters()) if p.grad is not None]
            torch.save(torch.cat(parts), self.gradient)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.perf_counter() - self.started)


def config_of(args: argparse.Namespace, count: int) -> GRPOConfig:
    """The method's settings in TRL's names (docs/learning.md)."""
    return GRPOConfig(
        output_dir=str(args.out),
        per_device_train_batch_size=args.micro,
        gradient_accumulation_steps=count // args.micro,
        steps_per_generation=count // args.micro,
        num_generations=args.micro,
        max_steps=args.updates,
        learning_rate=args.rate,
        weight_decay=0.1,
        adam_beta2=0.98,
        lr_scheduler_type="constant",
        max_grad_norm=args.max_grad_norm,
        beta=0.0,
        epsilon=0.2,
        epsilon_high=0.28,
        loss_type="dapo",
        temperature=1.0,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=not torch.cuda.is_available(),
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        model_init_kwargs={"dtype": "float32"},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("batch", type=Path)
    parser.add_argument("--out", type=Path, default=Path("trl-out"))
    parser.add_argument("--updates", type=int, default=1)
    parser.add_argument("--micro", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1e-6)
    parser.add_argument("--max-grad-norm", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--gradient", type=Path, help="also write the first update's gradient to this file")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rows = [row for row in pq.read_table(args.batch / "samples.parquet").to_pylist() if row["role"] == "agent"]
    if any(choice for row in rows for choice in row["allowed"]) or {row["temperature"] for row in rows} != {1.0}:
        raise SystemExit("Guided records, and draws at another temperature than 1, cannot be trained with TRL.")
    rows = rows[: len(rows) // args.micro * args.micro]
    clock = Clock(args.gradient)
    trainer = StoredPlays(
        model=args.model,
        args=config_of(args, len(rows)),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        train_dataset=Dataset.from_list([{"prompt": "x"}] * max(64, len(rows))),
        processing_class=AutoTokenizer.from_pretrained(args.model),
        callbacks=[clock],
    )
    trainer.rows = rows
    trainer.train()
    trainer.save_model(str(args.out / "model"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": clock.seconds, "peak_mb": peak}))


if __name__ == "__main__":
    main()
