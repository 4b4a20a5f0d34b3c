"""Who chooses the environments of a cycle: the model, a fixed pool, or an oracle that reads win rates."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from benchmarks.coevolve.playing import DRAW
from benchmarks.coevolve.world import SKILLS, Cell, Told, design_messages, designs, even_design, open_cells, read_design
from spade.attempts import Attempt
from spade.frontier import tent
from spade.identity import rng_for, seed_for
from spade.messages import Guide, Request, Role
from spade.ports import Model
from spade.skills import Skill


@dataclass(frozen=True, slots=True)
class Design:
    """One environment of a cycle; `attempt` when the model designed it, `replay` when it was remembered."""

    cell: Cell
    plan: str
    skill: Skill
    attempt: Attempt | None = None
    replay: bool = False


async def by_model(
    model: Model, count: int, memory: Mapping[str, Sequence[Told]], seed: int, cycle: int, lately: Collection[str]
) -> list[Design]:
    """`count` designs, skills in turn, each decoded under the lines it may write: none of a cell designed `lately`, nor
    of one of this cycle: for blueprints, the factory's own gate `pool.structural` refuses those."""
    taken = set(lately)
    made: dict[int, Design] = {}
    while missing := [number for number in range(count) if number not in made]:
        wave = missing[: len(SKILLS)]
        offered = {s: tuple(line for line in designs(s) if line.rsplit(" ", 1)[0] not in taken) for s in SKILLS}
        for number, design in zip(wave, await _wave(model, wave, memory, (seed, cycle), offered), strict=True):
            if design.cell.text not in taken:  # two skills of one wave may choose the same
                taken.add(design.cell.text)
                made[number] = design
    return [made[number] for number in range(count)]


async def _wave(
    model: Model,
    numbers: Sequence[int],
    memory: Mapping[str, Sequence[Told]],
    of: tuple[int, int],
    offered: Mapping[Skill, tuple[str, ...]],
) -> list[Design]:
    """One design for each of the numbers, decoded together; `of` is the run's seed and the cycle."""
    seed, cycle = of

    async def one(number: int) -> Design:
        skill = SKILLS[number % len(SKILLS)]
        rng = rng_for(seed, "design", cycle, number)
        known = list(memory.get(skill, ()))
        good = [t for t in known if 0.15 <= t.win_rate <= 0.85]
        bad = [t for t in known if not 0.15 <= t.win_rate <= 0.85]
        told = [rng.choice(some) for some in (good, bad) if some]
        sampling = replace(DRAW, max_tokens=40, seed=seed_for(seed, "design", cycle, number))
        messages = design_messages(skill, told)
        completion = await model.complete(
            Request(messages, sampling, Role.DESIGNER, guide=Guide(choices=offered[skill]))
        )
        cell, plan = read_design(completion.text)
        attempt = Attempt(f"slot-{cycle}-{number}", 0, "", completion, sampling, cell.environment(plan).env_id)
        return Design(cell, plan, skill, attempt)

    return list(await asyncio.gather(*(one(n) for n in numbers)))


def fixed_pool(size: int, seed: int) -> list[Design]:
    """Even designs, drawn once."""
    rng = rng_for(seed, "pool")
    made = []
    for number in range(size):
        skill = SKILLS[number % len(SKILLS)]
        cell, plan = read_design(even_design(skill, rng))
        made.append(Design(cell, plan, skill))
    return made


def distinct(drawn: Sequence[Design]) -> list[Design]:
    """The first design of each cell, in order."""
    found: dict[Cell, Design] = {}
    for design in drawn:
        found.setdefault(design.cell, design)
    return list(found.values())


class Oracle:
    """Knows every win rate so far, smoothed over cells that differ in few knobs, and draws near an even one."""

    def __init__(self) -> None:
        self.counts: dict[Cell, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))

    def saw(self, cell: Cell, wins: float, plays: int) -> None:
        self.counts[cell] = (self.counts[cell][0] + wins, self.counts[cell][1] + plays)

    def fade(self, share: float = 0.8) -> None:
        for cell, (wins, plays) in list(self.counts.items()):
            self.counts[cell] = (share * wins, share * plays)

    def draw(self, count: int, rng: Random) -> list[Design]:
        estimates: dict[str, dict[Cell, float]] = {}
        made: list[Design] = []
        for number in range(count):
            skill = SKILLS[number % len(SKILLS)]
            if skill not in estimates:
                estimates[skill] = {c: self.estimate(c) for c in open_cells(skill)}
            options = [cell for cell in estimates[skill] if all(cell != design.cell for design in made)]
            weights = [0.02 + tent(estimates[skill][cell]) ** 3 for cell in options]
            cell = rng.choices(options, weights)[0]
            made.append(Design(cell, read_design(f"{cell.text} {_plan(cell)}")[1], skill))
        return made

    def estimate(self, cell: Cell) -> float:
        wins, plays = 0.2, 0.4
        for other, (won, played) in self.counts.items():
            if other.mechanic == cell.mechanic and played > 0.01:
                near = 0.25 ** sum(a != b for a, b in zip(cell.values, other.values, strict=True))
                wins, plays = wins + near * won, plays + near * played
        return wins / plays


def _plan(cell: Cell) -> str:
    from spade.blueprints import MECHANICS

    return next(iter(MECHANICS[cell.mechanic].plans))
