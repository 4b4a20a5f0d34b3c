"""Questions and answers of reasoning-gym datasets, one JSON line a program to be: material for `benchmarks/gates.py`.

    python benchmarks/reasoning_gym_items.py OUT.jsonl [--programs 100] [--items 40]

Runs in any environment that has the package `reasoning-gym`; needs nothing else of this project.
"""

import argparse
import json
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--items", type=int, default=40)
    arguments = parser.parse_args()
    written = 0
    with arguments.out.open("w") as out:
        for name, entries in (found for seed in (7, 8) for found in datasets(arguments.items, seed)):
            out.write(json.dumps({"dataset": name, "items": entries}) + "\n")
            written += 1
            if written == arguments.programs:
                break
    print(f"{written} programs", file=sys.stderr)


def datasets(count: int, seed: int):  # type: ignore[no-untyped-def]
    """(name, [[question, answer], ...]) of each dataset whose items are texts of usable size."""
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    for name in sorted(DATASETS):
        try:
            made = reasoning_gym.create_dataset(name, size=count, seed=seed)
            entries = [[item["question"].strip(), str(item["answer"]).strip()] for item in made]
        except Exception as error:  # noqa: BLE001 - some datasets need data that is not installed
            print(f"{name}: {error}", file=sys.stderr)
            continue
        fitting = [e for e in entries if 0 < len(e[1]) <= 200 and len(e[0]) <= 3000 and "{" not in e[1]]
        if len({answer for _, answer in fitting}) >= 8:
            yield name, fitting


if __name__ == "__main__":
    main()
