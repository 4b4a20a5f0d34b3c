"""Plays of the benchmark: the factory's play loop, engine and sandbox, many at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean

from benchmarks.coevolve.sharing import Programs, SharedGame
from benchmarks.coevolve.world import Cell
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Hinted, ModelPolicy, Policy, play, with_hint
from spade.gates import examine
from spade.identity import seed_for
from spade.messages import Completion, Message, Sampling
from spade.ports import Ask, BundleGame, Limits, Model, Sandbox
from spade.settings import GateSettings
from spade.verdicts import first_failure

MAX_TURNS = 14
"""The run's cap: instances that need more are out of reach of every agent here."""
DRAW = Sampling(temperature=1.0, top_p=1.0, top_k=0, max_tokens=8)
GATES = GateSettings(random_win_max=0.6, min_turns=2)
"""The starter profile's gates."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`count` plays of one environment in one arm."""

    cell: Cell
    environment: Environment
    count: int
    arm: Arm = Arm.PLAIN
    hint: str = ""


async def play_all(
    model: Model, programs: Programs, wanted: Sequence[Wanted], cycle: str, seed: int, round_: int = 0
) -> list[list[Episode]]:
    """The episodes of each, in order; both arms play the same seeds."""

    async def one(each: Wanted, number: int) -> Episode:
        start = seed_for(seed, each.environment.env_id, cycle, round_, number)
        asked = Asked(cycle, each.environment.env_id, round_, each.arm, number, start)
        sampling = replace(DRAW, seed=seed_for(start, "sampling", each.arm))
        policy: Policy = ModelPolicy(model, sampling, each.environment.guide)
        policy = Hinted(policy, each.hint) if each.arm is Arm.HINTED else policy
        game = SharedGame(await programs.of(each.environment.code))
        return await play(game, policy, asked, "", max_turns=MAX_TURNS)

    for each in wanted:
        await programs.of(each.environment.code)
    groups = [asyncio.gather(*(one(each, n) for n in range(each.count))) for each in wanted]
    return [list(group) for group in await asyncio.gather(*groups)]


async def evaluate(model: Model, programs: Programs, items: Sequence[tuple[Cell, int]]) -> list[Episode]:
    """Plays of given instances by the policy as it is trained: sampled, with seeds that are the same in every run."""

    async def one(cell: Cell, seed: int) -> Episode:
        environment = cell.environment()
        asked = Asked("evaluation", environment.env_id, 0, Arm.PLAIN, 0, seed)
        game = SharedGame(await programs.of(environment.code))
        return await play(
            game,
            ModelPolicy(model, replace(DRAW, seed=seed % 2**31), environment.guide),
            asked,
            "",
            max_turns=MAX_TURNS,
        )

    ordered = sorted(range(len(items)), key=lambda i: items[i][0].text)
    found: dict[int, Episode] = {}
    for start in range(0, len(ordered), 256):
        numbers = ordered[start : start + 256]
        for number in {items[n][0]: n for n in numbers}.values():
            await programs.of(items[number][0].environment().code)
        episodes = await asyncio.gather(*(one(*items[n]) for n in numbers))
        found |= dict(zip(numbers, episodes, strict=True))
    return [found[n] for n in range(len(items))]


def win_rate(episodes: Sequence[Episode]) -> float:
    return fmean(bool(e.won) for e in episodes)


@dataclass(frozen=True, slots=True)
class EvenPolicy:
    """Draws each action evenly from the guide."""

    choices: tuple[str, ...]
    rng: Random

    async def act(self, messages: Sequence[Message]) -> Completion:
        return Completion(self.rng.choice(self.choices), "even", "even")


async def even_plays(programs: Programs, cells: Sequence[Cell], seed: int) -> list[Episode]:
    """One play of each cell by a player that draws evenly."""

    async def one(number: int, cell: Cell) -> Episode:
        environment = cell.environment()
        start = seed_for(seed, "even", number)
        asked = Asked("even", environment.env_id, 0, Arm.PLAIN, number, start)
        policy = EvenPolicy(environment.guide.choices if environment.guide else (), Random(f"{start}/even"))
        return await play(SharedGame(await programs.of(environment.code)), policy, asked, "", max_turns=MAX_TURNS)

    made: list[Episode] = []
    for start in range(0, len(cells), 128):
        for cell in cells[start : start + 128]:
            await programs.of(cell.environment().code)
        made += await asyncio.gather(*(one(start + n, c) for n, c in enumerate(cells[start : start + 128])))
    return made


@dataclass(frozen=True, slots=True)
class SolvedPolicy:
    """Says the solution, action by action."""

    actions: tuple[str, ...]

    async def act(self, messages: Sequence[Message]) -> Completion:
        turn = sum(m.role == "assistant" for m in messages)
        return Completion(f"\\boxed{{{self.actions[min(turn, len(self.actions) - 1)]}}}", "solution", "solution")


async def solved_plays(programs: Programs, cells: Sequence[Cell], seed: int, hinted: float) -> list[Episode]:
    """One play of each cell by its own solution; that share of them with a hint before what is seen first."""
    made, rng = [], Random(f"{seed}/hinted")
    for number, cell in enumerate(cells):
        environment = cell.environment()
        start = seed_for(seed, "solved", number)
        program = await programs.of(environment.code)
        assert isinstance(program.game, BundleGame)
        _, solution = await program.game.ask_many([Ask("reset", seed=start), Ask("solution")])
        asked = Asked("solved", environment.env_id, 0, Arm.PLAIN, number, start)
        policy = SolvedPolicy(solution.actions)
        episode = await play(SharedGame(program), policy, asked, "", max_turns=MAX_TURNS)
        made.append(_shown(episode, cell.hint(rng.choice(cell.plans))) if rng.random() < hinted else episode)
    return made


def _shown(episode: Episode, hint: str) -> Episode:
    first, *rest = episode.turns
    return replace(episode, turns=(replace(first, observation=with_hint(hint, first.observation)), *rest))


class Gatekeeper:
    """The gates' word on each environment, asked once."""

    def __init__(self, sandbox: Sandbox, known: dict[str, str]) -> None:
        self.sandbox, self.known = sandbox, known

    async def refusal(self, environment: Environment) -> str:
        """The gate that refuses it, empty when it is accepted."""
        if environment.env_id not in self.known:
            judged = await examine(environment.code, environment.setting, self.sandbox, Limits(), GATES)
            failed = first_failure(judged.verdicts)
            self.known[environment.env_id] = failed.gate if failed else ""
        return self.known[environment.env_id]
