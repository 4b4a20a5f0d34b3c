"""Where tasks of one's own sit for a model: played with and without a hint, and placed by how often each arm wins."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Any

from spade.attempts import Prompt
from spade.environments import Environment
from spade.episodes import Episode
from spade.errors import Skip
from spade.identity import content_id
from spade.leaks import judge_hint
from spade.messages import Message, Role
from spade.prompting import render, template_hash
from spade.scores import Interval, Score, score
from spade.skills import Setting, Skill
from spade.verdicts import Status, Verdict, first_failure

ZONE = (0.15, 0.85)
"""Win rates, ends included, at which a task still teaches; the zone of exported tasks."""
Z = 1.959964
"""The normal quantile of a 95 % interval."""


class Place(StrEnum):
    """Where a task sits."""

    MASTERED = "mastered"
    """Won without a hint more often than the zone's upper end."""
    FRONTIER = "frontier"
    """Won sometimes without a hint, or with one."""
    HOPELESS = "hopeless"
    """Won below the zone's lower end in both arms."""
    UNKNOWN = "unknown"
    """Not measured."""


@dataclass(frozen=True, slots=True)
class GapTask:
    """One task. `answer` is compared with the reply's box; or `checker` is Python that defines `check(answer)`."""

    prompt: str
    answer: str = ""
    checker: str = ""
    hint: str = ""

    @property
    def task_id(self) -> str:
        return content_id("task", self.prompt, self.answer, self.checker)


def read_tasks(lines: Iterable[str]) -> tuple[list[GapTask], list[tuple[int, str]]]:
    """The tasks of JSON lines, and why other lines are none: number and reason. Blank lines are passed over."""
    tasks: dict[str, GapTask] = {}
    broken: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            task = _task(json.loads(line))
        except (ValueError, RecursionError) as error:
            broken.append((number, f"it is not JSON: {error}"))
        except Skip as error:
            broken.append((number, str(error)))
        else:
            if task.task_id in tasks:
                broken.append((number, "it is a task that was there already"))
            tasks.setdefault(task.task_id, task)
    return list(tasks.values()), broken


def _task(value: Any) -> GapTask:
    if not isinstance(value, dict):
        raise Skip("it is not an object.")
    fields = {name: value.get(name) or "" for name in ("prompt", "answer", "checker", "hint")}
    if type(fields["answer"]) in (int, float):
        fields["answer"] = json.dumps(fields["answer"])
    odd = [name for name, given in fields.items() if not isinstance(given, str)]
    if odd:
        raise Skip(f"{odd[0]} is not a text.")
    if any("\ud800" <= c <= "\udfff" for given in fields.values() for c in given):
        raise Skip("it holds half a surrogate pair.")
    if not fields["prompt"].strip():
        raise Skip("it has no prompt.")
    if not fields["answer"].strip() and not fields["checker"].strip():
        raise Skip("it has neither an answer nor a checker.")
    return GapTask(**fields)


PROGRAM = """
import json

TASK = json.loads({task})


def same(one, other):
    return " ".join(one.casefold().split()).strip(" .$") == " ".join(other.casefold().split()).strip(" .$")


def equal(answer):
    if same(answer, TASK["answer"]):
        return True
    try:
        import math_verify
    except ImportError:
        return False
    gold, given = ("$" + text + "$" for text in (TASK["answer"], answer))
    return bool(math_verify.verify(math_verify.parse(gold), math_verify.parse(given)))


class TaskEnv:
    def reset(self, seed=None):
        return TASK["prompt"], {{}}

    def step(self, action):
        right = bool(check(action)) if TASK["checked"] else equal(action)
        return ("Right." if right else "Wrong."), float(right), True, False, {{}}

    def solution(self):
        return [TASK["answer"]]
"""


def environment_of(task: GapTask) -> Environment:
    """The task as a game of one turn, to be played in the sandbox like any other; texts go in as one JSON literal."""
    values = {"prompt": task.prompt, "answer": task.answer, "checked": bool(task.checker)}
    literal = repr(json.dumps(values))
    program = f"{task.checker}\n{PROGRAM.format(task=literal)}"
    return Environment(program, Setting.GAMES, Skill.MATHEMATICAL_REASONING, "Task", "")


def hint_request(task: GapTask, rejected: Verdict | None, max_words: int) -> Prompt:
    """Ask for a hint on how to reason about the task."""
    values = {"prompt": task.prompt, "answer": task.answer, "rejected": rejected, "max_words": max_words}
    text = render("hint_task.j2", **values)
    return Prompt(Role.HINT, (Message("user", text),), "hint_task", template_hash("hint_task.j2"))


def refused_hint(text: str, task: GapTask, max_words: int) -> Verdict | None:
    """What is wrong with a hint: empty, too long, or it says the answer. A checker's answers cannot be looked for."""
    solutions = {0: [task.answer]} if task.answer else {0: [""]}
    failed = first_failure(judge_hint(text, "", solutions, {0: task.prompt}, max_words=max_words))
    short = task.answer.strip()
    if failed is None and short and short not in task.prompt and f" {short} " in f" {' '.join(_words(text))} ":
        return Verdict("hint.no_leak", Status.FAIL, "The hint says the answer. Say how to find it instead.")
    return failed


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?()[]{}$\"'") for word in text.split()]


@dataclass(frozen=True, slots=True)
class Gap:
    """What the plays of one task say. `sure`: the interval that decides lies wholly on its side of the zone's end."""

    task: GapTask
    hint: str
    score: Score
    plain: Interval | None
    hinted: Interval | None
    place: Place
    sure: bool


def gap_of(task: GapTask, hint: str, episodes: Sequence[Episode]) -> Gap:
    scored = score("audit", environment_of(task).env_id, episodes)
    plain = wilson(scored.plain.wins, scored.plain.measured)
    hinted = wilson(scored.hinted.wins, scored.hinted.measured)
    place, sure = placed(scored, plain, hinted)
    return Gap(task, hint, scored, plain, hinted, place, sure)


def wilson(wins: int, plays: int) -> Interval | None:
    """95 % score interval of a win rate (Wilson 1927); None without plays."""
    if not plays:
        return None
    rate, square = wins / plays, Z * Z
    middle = (rate + square / (2 * plays)) / (1 + square / plays)
    half = Z * sqrt(rate * (1 - rate) / plays + square / (4 * plays * plays)) / (1 + square / plays)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def placed(scored: Score, plain: Interval | None, hinted: Interval | None) -> tuple[Place, bool]:
    """The place by the win rates as measured, and whether the intervals leave no other."""
    low, high = ZONE
    if plain is None or scored.plain.win_rate is None:
        return Place.UNKNOWN, False
    if scored.plain.win_rate > high:
        return Place.MASTERED, plain.low > high
    if scored.plain.win_rate >= low:
        return Place.FRONTIER, plain.low >= low and plain.high <= high
    if hinted is not None and (scored.hinted.win_rate or 0.0) >= low:
        return Place.FRONTIER, hinted.low >= low and plain.high <= high
    return Place.HOPELESS, plain.high < low and hinted is not None and hinted.high < low


def counts(gaps: Sequence[Gap]) -> Mapping[str, int]:
    """How many tasks sit where; every place is named."""
    return {place.value: sum(gap.place is place for gap in gaps) for place in Place}
