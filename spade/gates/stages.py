"""Which plays are made, in three stages: start, instances, players. Each adds to the facts; none of them judges."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spade.gates.casting import (
    canary_scripts,
    confirm_scripts,
    more_random,
    probe_scripts,
    random_scripts,
    reading_scripts,
)
from spade.gates.facts import Facts, Play, Player, differing
from spade.gates.probe import Script, Seat, saying
from spade.gates.scripts import STATIC_FUZZ, shaped_fuzz
from spade.settings import GateSettings

ECHO_TURNS = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Two processes that run the same program under different hash seeds."""

    left: Seat
    right: Seat
    settings: GateSettings


async def start(facts: Facts, table: Table) -> Facts:
    """One process, one reset."""
    seed = facts.seeds[0]
    greeting = await table.left.greet(seed)
    greetings = {} if greeting is None else {seed: greeting}
    return replace(facts, opened=tuple(table.left.opened), greetings=greetings)


async def instances(facts: Facts, table: Table) -> Facts:
    """Greetings, solutions, and the plays that show whether the program keeps its word: oracle, nothing, fuzz."""
    greetings, solutions = {}, {}
    for seed in facts.seeds:
        answer = await table.left.solve(seed)
        if answer is not None:
            greetings[seed], solutions[seed] = answer
    facts = replace(facts, greetings=greetings, solutions=solutions)
    left, right = await asyncio.gather(_contract_plays(facts, table.left), _oracle_plays(facts, table.right))
    opened = (*table.left.opened, *table.right.opened)
    facts = replace(facts, opened=opened, plays=(*facts.plays, *left, *right))
    return replace(facts, plays=(*facts.plays, *await _fresh_plays(facts, table)))


async def players(facts: Facts, table: Table) -> Facts:
    """Random players and canaries, and then the suspicious ones again on further instances."""
    scripts = [*random_scripts(facts, table.settings), *canary_scripts(facts), *reading_scripts(facts)]
    facts = await _share(facts, table, scripts)
    echoes = await asyncio.gather(
        table.left.echo(facts.seeds[0], ECHO_TURNS), table.right.echo(facts.seeds[1], ECHO_TURNS)
    )
    facts = replace(facts, plays=(*facts.plays, *(play for play in echoes if play)))
    scripts = [*probe_scripts(facts, table.settings), *confirm_scripts(facts), *more_random(facts, table.settings)]
    return await _share(facts, table, scripts)


async def _share(facts: Facts, table: Table, scripts: Sequence[Script]) -> Facts:
    """Half of the plays in each process, at once."""
    left, right = await asyncio.gather(table.left.play_all(scripts[::2]), table.right.play_all(scripts[1::2]))
    return replace(facts, plays=(*facts.plays, *left, *right))


async def _contract_plays(facts: Facts, seat: Seat) -> list[Play]:
    turns = facts.cap
    scripts = [saying(Player.NOTHING, seed, [""] * turns, ("", "0")) for seed in facts.seeds]
    plays = await seat.play_all(scripts)
    plays += await _fuzz_plays(facts, seat, turns)
    solved = facts.solved
    return plays + await seat.play_all(
        saying(Player.ORACLE, seed, solved[seed]) for seed in facts.seeds if seed in solved
    )


async def _oracle_plays(facts: Facts, seat: Seat) -> list[Play]:
    """In a process that was never asked for a solution; the first instance again at the end."""
    seeds = [seed for seed in facts.seeds if facts.solved.get(seed)]
    order = [*seeds, *seeds[:1]]
    scripts = [saying(Player.ORACLE, s, facts.solved[s], (facts.solved[s][-1], "")) for s in order]
    scripts += [saying(Player.NOTHING, seed, [""] * facts.cap) for seed in facts.seeds[:2]]
    return await seat.play_all(scripts)


async def _fuzz_plays(facts: Facts, seat: Seat, turns: int) -> list[Play]:
    """Every fuzz text as an action, at the start of an episode and, for half of them, in its middle."""
    solutions = [facts.solved[s] for s in facts.seeds if s in facts.solved]
    texts = [*STATIC_FUZZ, *shaped_fuzz(solutions)]
    middle = solutions[0][: len(solutions[0]) // 2] if solutions else ()
    seed = facts.seeds[0]
    plays: list[Play] = []
    for opening, batch in (((), texts), (middle, texts[::2] if middle else [])):
        left = list(batch)
        while left:
            play = await seat.play(saying(Player.FUZZ, seed, [*opening, *left[:turns]]))
            if play is None:
                return plays
            plays.append(play)
            used = len(play.steps) + (play.failure is not None) - len(opening)
            left = left[max(1, used) :]
    return plays


async def _fresh_plays(facts: Facts, table: Table) -> list[Play]:
    """Where plays of one instance differ: its first play in two fresh processes, to tell why."""
    changed = next(iter(differing(facts)), None)
    if changed is None:
        return []
    seed, actions = changed
    plays: list[Play] = []
    for number in (2, 3, 4):
        seat = replace(table.left, number=number, game=None, opened=[], deaths=0)
        plays += await seat.play_all([saying(Player.FRESH, seed, actions)])
        await seat.close()
    return plays
