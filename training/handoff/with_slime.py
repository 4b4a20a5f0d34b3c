"""Write a stored batch as slime replays it. Needs torch and pyarrow; nothing of the factory is imported.

    PYTHON with_slime.py BATCH [--out slime-data] [--rollout 0]

BATCH is a folder under var/batches. The file has the form of slime's own dumps of rollouts: with
`--load-debug-rollout-data` slime trains on it without an inference server. Rewards are the batch's advantages, which
slime takes as they are under `--advantage-estimator grpo --disable-rewards-normalization`; log-probabilities are those
of the play. Guided records are refused: slime has no notion of what a guide left to choose from. Prints the flags.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch

FLAGS = (
    "--advantage-estimator grpo",
    "--disable-rewards-normalization",
    "--use-rollout-logprobs",
    "--n-samples-per-prompt 1",
    "--num-rollout 1",
    "--eps-clip 0.2",
    "--eps-clip-high 0.28",
    "--entropy-coef 0.0",
    "--optimizer adam",
    "--lr 1e-6",
    "--lr-decay-style constant",
    "--weight-decay 0.1",
    "--adam-beta1 0.9",
    "--adam-beta2 0.98",
)
"""The method's settings in slime's names (docs/learning.md); model and parallelism are the reader's to add."""


def sample_of(row: dict[str, Any], number: int) -> dict[str, Any]:
    """One row of a batch as slime's `Sample.to_dict()` writes it.

    The response runs from the first trained token to the last; tokens in between that the world said have a loss mask
    of 0 and a log-probability of 0.
    """
    first, last = row["at"][0], row["at"][-1]
    length = last + 1 - first
    mask, logprobs = [0] * length, [0.0] * length
    for place, logprob in zip(row["at"], row["logprobs"], strict=True):
        mask[place - first], logprobs[place - first] = 1, logprob
    return {
        "group_index": number,
        "index": number,
        "prompt": "",
        "tokens": row["ids"][: last + 1],
        "response": "",
        "response_length": length,
        "label": None,
        "reward": row["advantage"],
        "loss_mask": mask,
        "rollout_log_probs": logprobs,
        "weight_versions": [row["weights"]],
        "status": "completed",
        "metadata": {name: row[name] for name in ("role", "group", "subject_id", "part", "env_id")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batch", type=Path)
    parser.add_argument("--out", type=Path, default=Path("slime-data"))
    parser.add_argument("--rollout", type=int, default=0, help="which of slime's rollouts the batch is")
    args = parser.parse_args()
    rows = pq.read_table(args.batch / "samples.parquet").to_pylist()
    if any(choice for row in rows for choice in row["allowed"]) or {row["temperature"] for row in rows} != {1.0}:
        raise SystemExit("Guided records, and draws at another temperature than 1, cannot be trained with slime.")
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / f"{args.rollout}.pt"
    part = file.with_suffix(".part")
    torch.save({"rollout_id": args.rollout, "samples": [sample_of(row, n) for n, row in enumerate(rows)]}, part)
    part.replace(file)
    load = f"--load-debug-rollout-data {args.out}/{{rollout_id}}.pt"
    sizes = [f"--rollout-batch-size {len(rows)}", f"--global-batch-size {len(rows)}"]
    print(json.dumps({"file": str(file), "samples": len(rows), "flags": [load, *sizes, *FLAGS]}, indent=1))


if __name__ == "__main__":
    main()
