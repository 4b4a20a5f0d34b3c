"""Write `bfcl.jsonl`: whole conversations of many shapes, each with the verdict of the package's own evaluation.

Run by the interpreter of the package's own environment, with nothing of ours:
    PYTHON tests/evaluation/replies/make_bfcl.py > tests/evaluation/replies/bfcl.jsonl
"""

import json
import os
import sys
import tempfile
from typing import Any
from unittest.mock import MagicMock

os.environ["BFCL_PROJECT_ROOT"] = tempfile.mkdtemp()
# Its tables of models and of results import every provider's client, and none is needed here.
for module in ("bfcl_eval.constants.model_config", "bfcl_eval.eval_checker.eval_runner_helper", "dotenv", "tqdm"):
    sys.modules[module] = MagicMock(__all__=[])

from bfcl_eval.eval_checker import eval_runner  # noqa: E402
from bfcl_eval.model_handler.utils import default_decode_execute_prompting  # noqa: E402
from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry  # noqa: E402

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
TASKS = 5
Turns = list[list[str]]


class Handler:
    """Decodes as the package does for models without tool calls."""

    def decode_execute(self, result: Any, has_tool_call_tag: bool) -> Any:
        return default_decode_execute_prompting(result)


def shapes(truth: Turns) -> dict[str, Turns]:
    """Conversations by shape, a list of replies for each turn."""
    listed = [[f"[{', '.join(calls)}]", "Done."] if calls else ["I lack a parameter."] for calls in truth]
    return {
        "right": listed,
        "one call a reply": [[*(f"[{call}]" for call in calls), "Done."] for calls in truth],
        "without the first turn": [["I cannot do that."], *listed[1:]],
        "ended early": listed[:-1],
        "unreadable": [["```python\nprint(", "[not a call", "{}", ""] for _ in truth],
    }


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr
    for category in CATEGORIES:
        name = f"multi_turn_{category}"
        truths = {entry["id"]: entry["ground_truth"] for entry in load_ground_truth_entry(name)}
        for entry in load_dataset_entry(name)[:: 200 // TASKS][:TASKS]:
            truth = truths[entry["id"]]
            for shape, turns in shapes(truth).items():
                label = "".join(c for c in f"{entry['id']}{shape}" if c.isalnum())
                said = eval_runner._evaluate_single_multi_turn_entry(
                    Handler(), entry["id"], turns, truth, json.loads(json.dumps(entry)), label, name
                )
                line = {"category": category, "task_id": entry["id"], "shape": shape, "turns": turns}
                why = (said.get("error") or {}).get("error_type", "")
                out.write(json.dumps({**line, "valid": bool(said["valid"]), "why": why}) + "\n")


if __name__ == "__main__":
    main()
