"""Reasoning-Gym as a pool: which datasets can be dealt as environments, their questions at a level, and past plays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.packages import REASONING_GYM, greeted, python_of
from data.benchmarks.reasoning_gym import QUESTION_SECONDS
from data.benchmarks.worker import START_SECONDS, Workers
from data.catalog import Catalog
from spade.gym_pool import MECHANIC, TITLE

_PLAYS = """
    select cast(replace(e.mechanic, ?, '') as integer) as level, p.won
    from episodes as p join environments as e using (env_id)
    join cycles as c on c.cycle_id = p.cycle_id
    join cycles as now on now.settings_hash = c.settings_hash and now.seed = c.seed
    where now.cycle_id = ? and c.number < now.number and e.title = ? and p.arm = 'plain' and p.won is not null
    order by c.number, p.round, p.play, p.episode_id"""


@dataclass
class GymTasks:
    """The package in a process of its own; close it."""

    environments: Path
    _workers: Workers | None = None

    async def datasets(self) -> Mapping[str, int]:
        """Each dataset that can be dealt with its highest level. Raises `Abort` when the package is missing or another
        version."""
        workers = self._calls()
        await greeted(workers, REASONING_GYM)
        levels: dict[str, int] = (await workers.call("dealt"))["levels"]
        workers.seconds = QUESTION_SECONDS
        return levels

    async def tasks(self, dataset: str, level: int, seed: int, count: int) -> Sequence[tuple[str, str]]:
        """Questions with their answers. Raises `MarkerError`, which is a `Skip`, where the package fails or hangs."""
        said = await self._calls().call("tasks", name=dataset, level=level, seed=seed, count=count)
        return [(question, answer) for question, answer in said]

    async def aclose(self) -> None:
        if self._workers is not None:
            await self._workers.aclose()

    def _calls(self) -> Workers:
        if self._workers is None:
            python = python_of(REASONING_GYM, self.environments)
            self._workers = Workers(python, REASONING_GYM.script, 2, START_SECONDS)
        return self._workers


def plays_of(catalog: Catalog, dataset: str, cycle_id: str) -> list[tuple[int, bool]]:
    """Level and end of a dataset's plain plays in the cycles before this one, of the same settings and seed."""
    asked = [MECHANIC.format(""), cycle_id, TITLE.format(dataset)]
    return [(row["level"], row["won"]) for row in catalog.query(_PLAYS, asked)]
