"""Questions with one right answer as an environment program of one turn, marked as Reasoning-Gym marks them."""

import ast
from collections.abc import Sequence
from importlib.resources import files

MOST_BYTES = 49_152
"""Of the questions in one program; further ones are left out, since a program has a largest size."""


def wrapped(dataset: str, level: int, tasks: Sequence[tuple[str, str]]) -> str:
    """The program. `tasks` are questions with their answers; they are written as literals, so that none of their text
    can become code. An answer that stands in a longer reply is worth its share of it, as in the package's scorer."""
    kept: list[tuple[str, str]] = []
    size = 0
    for question, answer in tasks:
        size += len(repr((question, answer)).encode("utf-8"))
        if size > MOST_BYTES:
            break
        kept.append((question, answer.strip()))
    lines = "".join(f"    {pair!r},\n" for pair in kept)
    name = "".join(part.capitalize() for part in dataset.split("_"))
    program = (files("spade.prompts") / "question_program.txt").read_text("utf-8")
    for old, new in (
        ("class QuestionEnv", f"class {name}Level{level}Env"),
        ('"""Reasoning-Gym:', f'"""Reasoning-Gym {dataset}, level {level}:'),
        ("TASKS = []", f"TASKS = [\n{lines}]"),  # last: what stands in a question is replaced no more
    ):
        program = program.replace(old, new, 1)
    return program


def questions_of(program: str) -> list[str]:
    """The questions that `wrapped` wrote into a program, in order."""
    for node in ast.parse(program).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TASKS":
            return [question for question, _ in ast.literal_eval(node.value)]
    return []
