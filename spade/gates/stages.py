"""Which plays are made, in three stages: start, instances, players. Each adds to the facts; none of them judges."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

from spade.gates.casting import (
    after_reading,
    canary_scripts,
    confirm_scripts,
    more_random,
    probe_scripts,
    random_scripts,
    reading_scripts,
)
from spade.gates.facts import FRESH_PROCESSES, Facts, Play, Player, Resolved, differing
from spade.gates.lasting import episodes_to_play
from spade.gates.probe import Seat
from spade.gates.script import Script, saying, spread
from spade.gates.scripts import STATIC_FUZZ, shaped_fuzz
from spade.gates.tool_scripts import call_fuzz, tool_scripts
from spade.outcomes import Reply
from spade.settings import GateSettings
from spade.skills import Setting

ECHO_TURNS = 3
LEGAL = 3
"""Random legal plays that are made in both processes, to see whether anything lasts or differs beyond the oracles."""


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
    facts = await _meet(facts, table.left)
    legal = random_scripts(facts, table.settings)[:LEGAL]
    left, right = await asyncio.gather(
        _contract_plays(facts, table.left, legal), _oracle_plays(facts, table.right, legal)
    )
    resolved = await _resolve(facts, table)
    late = await _late_plays(facts, table.left)
    opened = (*table.left.opened, *table.right.opened)
    facts = replace(facts, opened=opened, plays=(*facts.plays, *left, *right, *late), resolved=resolved)
    return await _fresh(facts, table)


async def _meet(facts: Facts, seat: Seat) -> Facts:
    """All greetings, and solutions up to the first that fails."""
    greetings: dict[int, Reply] = {}
    solutions: dict[int, Reply] = {}
    for seed, (greeting, solution) in (await seat.solve_all(facts.seeds)).items():
        if greeting is not None:
            greetings[seed] = greeting
        if solution is not None:
            solutions[seed] = solution
    return replace(facts, greetings=greetings, solutions=solutions)


async def _resolve(facts: Facts, table: Table) -> tuple[Resolved, ...]:
    """The solutions again: all in the other process, which was not asked before its oracles had played; one in this."""
    known = [Resolved(0, seed, actions) for seed, actions in facts.solved.items()]
    for seat, seeds in ((table.left, list(facts.solved)[:1]), (table.right, list(facts.solved))):
        for seed, (_, solution) in (await seat.solve_all(seeds)).items():
            if solution is not None and solution.ok:
                known.append(Resolved(seat.number, seed, solution.actions))
    return tuple(known)


async def players(facts: Facts, table: Table) -> Facts:
    """Random players, canaries and readers; then the suspicious ones again on further instances, and a second look."""
    settings = table.settings
    scripts = [*random_scripts(facts, settings), *canary_scripts(facts), *reading_scripts(facts)]
    scripts += tool_scripts(facts) if facts.setting is Setting.TOOLS else []
    facts = await _share(facts, table, scripts)
    echo = await table.left.echo(facts.seeds[0], ECHO_TURNS)
    facts = replace(facts, plays=(*facts.plays, *([echo] if echo else [])))
    scripts = [*probe_scripts(facts, settings), *after_reading(facts)]
    facts = await _share(facts, table, [*scripts, *confirm_scripts(facts), *more_random(facts, settings)])
    return await _share(facts, table, probe_scripts(facts, settings, more=True))


async def _share(facts: Facts, table: Table, scripts: Sequence[Script]) -> Facts:
    """Half of the plays in each process, at once."""
    left, right = await asyncio.gather(table.left.play_all(scripts[::2]), table.right.play_all(scripts[1::2]))
    return replace(facts, plays=(*facts.plays, *left, *right))


async def _contract_plays(facts: Facts, seat: Seat, legal: Sequence[Script]) -> list[Play]:
    turns, solved = facts.cap, facts.solved
    solutions = list(solved.values())
    fuzz = [*STATIC_FUZZ, *shaped_fuzz(solutions), *(call_fuzz(facts) if facts.setting is Setting.TOOLS else [])]
    scripts = [saying(Player.NOTHING, seed, [""] * turns, ("", "0")) for seed in facts.seeds]
    scripts += spread(replace(saying(Player.FUZZ, facts.seeds[0], fuzz), again=len(fuzz)), turns)
    middle = solutions[0][: len(solutions[0]) // 2] if solutions else ()
    if middle:
        halfway = replace(saying(Player.FUZZ, facts.seeds[0], fuzz[::2]), opening=middle, again=len(fuzz))
        scripts += spread(halfway, turns)
    scripts += [saying(Player.ORACLE, seed, solved[seed]) for seed in facts.seeds if seed in solved]
    return await seat.play_all([*legal[:1], *scripts, *legal])


async def _late_plays(facts: Facts, seat: Seat) -> list[Play]:
    """The oracles once more after so many episodes that a program which counts them has had its chance to change."""
    episodes = episodes_to_play(facts.source)
    if not episodes or not facts.solved:
        return []
    idle = [saying(Player.NOTHING, seed, [""] * facts.cap) for seed in islice(cycle(facts.seeds), episodes)]
    oracles = [saying(Player.ORACLE, seed, actions) for seed, actions in facts.solved.items()]
    return (await seat.play_all([*idle, *oracles]))[episodes:]


async def _oracle_plays(facts: Facts, seat: Seat, legal: Sequence[Script]) -> list[Play]:
    """In a process that was never asked for a solution; the first instance again at the end."""
    seeds = [seed for seed in facts.seeds if facts.solved.get(seed)]
    order = [*seeds, *seeds[:1]]
    scripts = [saying(Player.ORACLE, s, facts.solved[s], (facts.solved[s][-1], "")) for s in order]
    scripts += [saying(Player.NOTHING, seed, [""] * facts.cap) for seed in facts.seeds[:2]]
    return await seat.play_all([*scripts, *legal])


async def _fresh(facts: Facts, table: Table) -> Facts:
    """Where plays of one instance differ: its first play, and its solution, in fresh processes, to tell why."""
    changed = next(iter(differing(facts)), None)
    if changed is None:
        return facts
    seed, actions = changed
    plays: list[Play] = []
    resolved: list[Resolved] = []
    for number in FRESH_PROCESSES:
        seat = Seat(table.left.sandbox, table.left.code, table.left.limits, number)
        plays += await seat.play_all([saying(Player.FRESH, seed, actions or facts.solved.get(seed, ()))])
        _, solution = (await seat.solve_all([seed]))[seed]
        resolved += [Resolved(number, seed, solution.actions)] if solution is not None and solution.ok else []
        await seat.close()
    return replace(facts, plays=(*facts.plays, *plays), resolved=(*facts.resolved, *resolved))
