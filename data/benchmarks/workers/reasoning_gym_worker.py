"""Reasoning-Gym: its datasets, its answer extraction and its scorers, unmodified."""

from functools import cache
from typing import Any

import reasoning_gym
from reasoning_gym.factory import DATASETS
from reasoning_gym.utils import SYSTEM_PROMPTS, extract_answer
from serving import serve, version_of

SIZE = 1000
"""Items a dataset is made with; some datasets draw differently for another size."""


@cache
def dataset(name: str, seed: int, parameters: tuple[tuple[str, Any], ...]) -> Any:
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in parameters}
    return reasoning_gym.create_dataset(name, seed=seed, size=SIZE, **given)


def of(name: str, seed: int, parameters: dict[str, Any]) -> Any:
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    return dataset(name, seed, tuple(sorted(frozen.items())))


def hello() -> dict[str, Any]:
    modules = {name: made.__module__.split(".")[1] for name, (made, _) in DATASETS.items()}
    return {"version": version_of("reasoning_gym"), "modules": modules, "system": SYSTEM_PROMPTS["default"]}


def question(name: str, seed: int, parameters: dict[str, Any], index: int) -> str:
    return str(of(name, seed, parameters)[index]["question"])


def mark(name: str, seed: int, parameters: dict[str, Any], index: int, reply: str) -> dict[str, Any]:
    """The scorer's value; one that raises on an answer gives 0, and the words go along."""
    made = of(name, seed, parameters)
    entry, answer = made[index], extract_answer(reply)
    try:
        return {"answer": answer, "score": float(made.score_answer(answer, entry)), "raised": ""}
    except Exception as error:  # noqa: BLE001 - a malformed answer is a wrong one, not a missing one
        return {"answer": answer, "score": 0.0, "raised": f"the scorer raised {type(error).__name__}: {error}"}


if __name__ == "__main__":
    serve({"hello": hello, "question": question, "mark": mark})
