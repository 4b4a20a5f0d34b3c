"""Write `reasoning_gym.jsonl`: replies of many shapes, each with the score that the package itself gives it.

Run by the interpreter of the package's own environment, with nothing of ours:
    PYTHON tests/evaluation/replies/make_reasoning_gym.py > tests/evaluation/replies/reasoning_gym.jsonl
"""

import json
import random
import sys
from collections.abc import Callable
from typing import Any

import reasoning_gym
from reasoning_gym.factory import DATASETS
from reasoning_gym.utils import extract_answer

LATER = {"boxnet", "coin_flip", "composite", "kakurasu", "path_star", "survo"}
LONGEST = 1500
EACH = 4
SHAPES: dict[str, Callable[[str, str], str]] = {
    "right": lambda a, b: f"<answer>{a}</answer>",
    "right after thoughts": lambda a, b: f"<think>Is it {b}? No.</think>\nSo it is\n<answer>{a}</answer>",
    "right among spaces": lambda a, b: f"<answer>\n  {a}  \n</answer>",
    "right, then wrong": lambda a, b: f"<answer>{a}</answer> or rather <answer>{b}</answer>",
    "wrong, then right": lambda a, b: f"<answer>{b}</answer> No: <answer>{a}</answer> That is it.",
    "another's": lambda a, b: f"<answer>{b}</answer>",
    "in a sentence": lambda a, b: f"<answer>The answer is {a}, I believe.</answer>",
    "half": lambda a, b: f"<answer>{a[: max(1, len(a) // 2)]}</answer>",
    "bare": lambda a, b: a,
    "boxed": lambda a, b: f"\\boxed{{{a}}}",
    "unclosed": lambda a, b: f"<answer>{a}",
    "empty": lambda a, b: "<answer></answer>",
    "upper case tags": lambda a, b: f"<ANSWER>{a}</ANSWER>",
    "nested": lambda a, b: f"<answer><answer>{a}</answer></answer>",
    "other case": lambda a, b: f"<answer>{a.swapcase()}</answer>",
    "JSON": lambda a, b: f"<answer>{json.dumps({'answer': a})}</answer>",
    "marked up": lambda a, b: f"<answer>**{a}**</answer>",
    "strange": lambda a, b: "<answer>\u202e\u0000∞ 1e999 [[[{{{ -0x1F None 😀</answer>",
    "nothing": lambda a, b: "",
    "silence": lambda a, b: "I do not know.",
}  # fmt: skip


def scored(made: Any, reply: str, entry: dict[str, Any]) -> float:
    """What the package says; a scorer that raises on an answer gives nothing for it."""
    try:
        return float(made.score_answer(extract_answer(reply), entry))
    except Exception:  # noqa: BLE001 - whatever a scorer raises
        return 0.0


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr  # some datasets print
    names = [name for name in sorted(DATASETS) if name not in LATER]
    shapes = list(SHAPES)
    for place, name in enumerate(names):
        made = reasoning_gym.create_dataset(name, seed=11, size=1000)
        answers = [str(made[n]["answer"]) for n in range(2)]
        for step in range(EACH):
            shape = shapes[(EACH * place + step) % len(shapes)]
            reply = SHAPES[shape](*(answer[:LONGEST] for answer in answers))
            line = {"dataset": name, "seed": 11, "index": 0, "shape": shape, "reply": reply}
            out.write(json.dumps({**line, "score": scored(made, reply, made[0])}) + "\n")


if __name__ == "__main__":
    random.seed(0)
    main()
