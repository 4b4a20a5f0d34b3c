"""Reasoning-Gym: its datasets, its answer extraction and its scorers, unmodified."""

from functools import cache
from typing import Any

import reasoning_gym
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, create_curriculum, has_curriculum
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


def dealt() -> dict[str, Any]:
    """Datasets that can be dealt as environments, each with its highest level: those with a curriculum, whose scorer is
    the package's plain one, which an environment can apply by itself."""
    plain = [name for name, (made, _) in DATASETS.items() if made.score_answer is ProceduralDataset.score_answer]
    levels = {name: _levels(create_curriculum(name)) for name in plain if has_curriculum(name)}
    return {"version": version_of("reasoning_gym"), "levels": levels}


def _levels(curriculum: Any) -> int:
    return max((len(attribute.levels) - 1 for attribute in curriculum.attributes.values()), default=0)


def tasks(name: str, level: int, seed: int, count: int) -> list[tuple[str, str]]:
    """Questions and answers at a level of the dataset's own curriculum: every attribute at that level, or its last."""
    curriculum = create_curriculum(name)
    curriculum.set_global_level(level)
    made = DATASETS[name][0](config=curriculum.generate_configuration({"seed": seed, "size": count}))
    return [(str(made[n]["question"]), str(made[n]["answer"])) for n in range(count)]


if __name__ == "__main__":
    serve({"hello": hello, "question": question, "mark": mark, "dealt": dealt, "tasks": tasks})
