"""TRL's GRPOTrainer on a stored batch: run by benchmarks/update.py in TRL's own environment, never imported.

    PYTHON benchmarks/trl_peer.py MODEL SAMPLES.parquet MICRO UPDATES THREADS

Prints one JSON line: seconds of each update, peak memory, and the first update's gradient as one file beside SAMPLES.
"""

import json
import resource
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import torch
from datasets import Dataset
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class StoredPlays(GRPOTrainer):
    """Takes its completions, log-probabilities and advantages from the batch instead of generating."""

    rows: list

    def _generate_and_score_completions(self, inputs):
        rows = self.rows
        heads = [row["at"][0] for row in rows]
        prompts = [row["ids"][:head] for row, head in zip(rows, heads, strict=True)]
        tails = [row["ids"][head:] for row, head in zip(rows, heads, strict=True)]
        before, after = max(map(len, prompts)), max(map(len, tails))
        pad = self.processing_class.pad_token_id
        shape = (len(rows), after)
        values = {
            "prompt_ids": torch.full((len(rows), before), pad),
            "prompt_mask": torch.zeros(len(rows), before, dtype=torch.long),
            "completion_ids": torch.full(shape, pad),
            "completion_mask": torch.zeros(shape, dtype=torch.long),
            "tool_mask": torch.zeros(shape, dtype=torch.long),
            "old_per_token_logps": torch.zeros(shape),
        }
        for n, (row, prompt, tail, head) in enumerate(zip(rows, prompts, tails, heads, strict=True)):
            values["prompt_ids"][n, before - len(prompt) :] = torch.tensor(prompt)
            values["prompt_mask"][n, before - len(prompt) :] = 1
            values["completion_ids"][n, : len(tail)] = torch.tensor(tail)
            values["completion_mask"][n, : len(tail)] = 1
            for place, logprob in zip(row["at"], row["logprobs"], strict=True):
                values["tool_mask"][n, place - head] = 1
                values["old_per_token_logps"][n, place - head] = logprob
        values["advantages"] = torch.tensor([row["advantage"] for row in rows])
        values["num_items_in_batch"] = values["tool_mask"].sum()
        return values


class Clock(TrainerCallback):
    """Seconds from the beginning of each update to its end, and the gradient of the first."""

    def __init__(self, gradient: Path) -> None:
        self.seconds: list[float] = []
        self.gradient = gradient

    def on_step_begin(self, *_, **__):
        self.started = time.perf_counter()

    def on_pre_optimizer_step(self, args, state, control, model=None, **__):
        if not self.seconds:
            parts = [p.grad.flatten() for _, p in sorted(model.named_parameters()) if p.grad is not None]
            torch.save(torch.cat(parts), self.gradient)
            self.started += 0.0

    def on_step_end(self, *_, **__):
        self.seconds.append(time.perf_counter() - self.started)


def main() -> None:
    folder, samples, micro, updates, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    rows = pq.read_table(samples).to_pylist()
    size = int(micro)
    config = GRPOConfig(
        output_dir=str(Path(samples).parent / "trl"),
        per_device_train_batch_size=size,
        gradient_accumulation_steps=len(rows) // size,
        steps_per_generation=len(rows) // size,
        num_generations=size,
        max_steps=int(updates),
        learning_rate=1e-6,
        weight_decay=0.1,
        adam_beta2=0.98,
        lr_scheduler_type="constant",
        max_grad_norm=1e9,
        beta=0.0,
        epsilon=0.2,
        epsilon_high=0.28,
        loss_type="dapo",
        temperature=1.0,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        model_init_kwargs={"dtype": "float32"},
    )
    clock = Clock(Path(samples).parent / "trl-gradient.pt")
    trainer = StoredPlays(
        model=folder,
        args=config,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        train_dataset=Dataset.from_list([{"prompt": "x"}] * max(64, len(rows))),
        processing_class=AutoTokenizer.from_pretrained(folder),
        callbacks=[clock],
    )
    trainer.rows = rows
    trainer.train()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": clock.seconds, "peak_mb": peak}))


main()
