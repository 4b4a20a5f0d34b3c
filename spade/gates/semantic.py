"""Level 3: whether winning means something: solvable by its own proof, and not by chance, trick or reading."""

from collections import Counter
from collections.abc import Callable
from statistics import fmean

from spade.boxes import action_of
from spade.gates.facts import TOLERANCE, Facts, Play, Player, repeated
from spade.gates.interaction import effective_turns, greets_alike, reveals, teaches
from spade.gates.reading import leaks
from spade.gates.scripts import nonsense
from spade.gates.tool_use import lookups_given_away
from spade.gates.verdicting import errored, failed, passed, warned
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Verdict

CONSTANT_WINS = 3
"""Of five instances."""
MIN_KINDS, MOST = 5, 0.8
"""Different first actions, and the share of them with one and the same reward, that count as paying for taking part."""
TRICK_WINS = 2
"""Instances on which a trick must win to count; once may be chance."""


def oracle_max(facts: Facts, settings: GateSettings) -> Verdict:
    """`solution()` wins with return 1.0 on every instance, within the turn cap, played like any agent."""
    gate, turns = "semantic.oracle_max", facts.cap
    problem = _solution_problem(facts, turns)
    if problem:
        return failed(gate, problem, None, 1.0)
    plays = facts.by(Player.ORACLE)
    if len({p.seed for p in plays if p.process == 1}) < len(facts.seeds):
        return errored(gate, "The solution could not be played on every instance.")
    broken = next((p for p in plays if p.failure is not None), None)
    if broken is not None and broken.failure is not None:
        message = f"Playing `solution()` fails at {broken.failed_at} (seed {broken.seed}): {broken.failure.detail}"
        return failed(gate, message, broken.failure.outcome.value, 1.0)
    worst = min(plays, key=lambda p: p.return_)
    if worst.return_ < 1 - TOLERANCE:
        early = " The episode ends before all of its actions are played." if len(worst.steps) < len(worst.sent) else ""
        message = (
            f"`solution()` earns {worst.return_:g} instead of 1.0 with seed {worst.seed} in {len(worst.steps)} steps."
        )
        return failed(gate, message + early, round(worst.return_, 6), 1.0)
    if not all(p.ended for p in plays):
        return warned(gate, "The episode goes on after the solution has won; end it with terminated=True.", 1.0, 1.0)
    return passed(gate, 1.0, 1.0)


def floor_gap(facts: Facts, settings: GateSettings) -> Verdict:
    """Doing nothing and playing at random stay below the oracle, and random play seldom wins.

    Where a trick or reading wins, random play owes its wins to it, and the gate of that trick says so instead.
    """
    gate, gap = "semantic.floor_gap", settings.floor_gap
    nothing, rand = facts.by(Player.NOTHING, process=0), facts.by(Player.RANDOM)
    if not nothing or not rand:
        return errored(gate, "No idle or random play could be made.")
    measured = {
        "nothing": round(fmean(p.return_ for p in nothing), 4),
        "random": round(fmean(p.return_ for p in rand), 4),
        "random_wins": round(fmean(p.won for p in rand), 4),
        "plays": len(rand),
    }
    threshold = {"return": 1 - gap, "random_wins": settings.random_win_max}
    if measured["nothing"] > 1 - gap:
        message = f"Doing nothing earns {measured['nothing']:g}. Pay only for what the agent achieves."
        return failed(gate, message, measured, threshold)
    lucky = max(measured["random_wins"] - settings.random_win_max, measured["random"] - (1 - gap)) > 0
    if lucky and not (canary_floor(facts, settings).passed and no_solution_leakage(facts, settings).passed):
        return warned(gate, "Random play wins by a trick, not by chance; see the next gates.", measured, threshold)
    if measured["random_wins"] > settings.random_win_max:
        message = (
            f"Random legal play wins {measured['random_wins']:.0%} of its plays. Make the space of actions larger, the "
        )
        return failed(
            gate, message + "number of turns smaller, or let a wrong answer cost something.", measured, threshold
        )
    if measured["random"] > 1 - gap:
        message = f"Random legal play earns {measured['random']:g} on the mean. Pay less for what chance reaches."
        return failed(gate, message, measured, threshold)
    return passed(gate, measured, threshold)


def canary_floor(facts: Facts, _: GateSettings) -> Verdict:
    """Tricks do not win: echoes, form without content, everything at once, one answer for all instances."""
    gate = "semantic.canary_floor"
    if not facts.by(Player.FORMAT, Player.CONSTANT):
        return errored(gate, "No canary could be played.")
    if len({p.seed for p in facts.by(Player.CONSTANT) if p.won and p.note == "decline"}) >= TRICK_WINS:
        return failed(gate, "Declining every request wins; ask for things that tools can do.", "decline")
    constant = _constant_answer(facts)
    if constant is not None:
        message = (
            f"Always saying {constant[:60]!r} wins on most instances: the answer is built in. Let the seed decide it."
        )
        return failed(gate, message, constant[:200])
    same = {p.seed for p in facts.by(Player.OTHER) if p.won}
    if len(same) >= CONSTANT_WINS and len(same) * 2 > len({p.seed for p in facts.by(Player.OTHER)}):
        return failed(
            gate, "One instance's solution wins on the others: the answer is built in. Let the seed decide it."
        )
    tricks = {
        Player.ECHO: "Repeating the observation wins. Judge what the action says, not what it contains.",
        Player.LISTING: "Listing everything in one action wins. Compare the whole action with the answer.",
        Player.FORMAT: "Well-formed nonsense wins. Check the content of an action, not its form.",
    }
    for player, message in tricks.items():
        if len({p.seed for p in facts.by(player) if p.won}) >= TRICK_WINS:
            return failed(gate, message, player.value)
    price = _paid_for_taking_part(facts)
    if price:
        message = f"Nearly every first action earns {price:g}, right or wrong; pay for progress only."
        return failed(gate, message, price, 0.0)
    paid = _paid_for_form(facts)
    if paid:
        return failed(
            gate, f"Well-formed nonsense such as {paid!r} earns a reward on every instance; pay for progress only."
        )
    return passed(gate)


def no_solution_leakage(facts: Facts, _: GateSettings) -> Verdict:
    """The answer cannot be read before the end."""
    gate = "semantic.no_solution_leakage"
    if not facts.by(Player.READER):
        return errored(gate, "No reader could be played.")
    found = [*leaks(facts), *(lookups_given_away(facts) if facts.setting is Setting.TOOLS else [])]
    if found:
        return failed(gate, found[0], found, [])
    return passed(gate, [], [])


def interactive(facts: Facts, settings: GateSettings) -> Verdict:
    """Enough turns, or replies that teach what was hidden."""
    gate, needed = "semantic.interactive", settings.min_turns
    turns = effective_turns(facts)
    if turns >= needed and (not greets_alike(facts) or reveals(facts)):
        return passed(gate, turns, needed)
    if turns and teaches(facts):
        return passed(gate, turns, needed, "Hidden state: replies to wrong actions teach.")
    if turns >= needed:
        message = (
            "The first observation and the replies are the same on every instance, so nobody can find the solution. "
        )
        return failed(gate, message + "Let replies reveal what is hidden.", turns, needed)
    message = (
        f"The game is over in {turns} turn(s) for one who knows, and replies to wrong actions teach nothing. Let the "
    )
    message += (
        f"solution need at least {needed} dependent actions, or let each reply reveal something about hidden state."
    )
    return failed(gate, message, turns, needed)


def replayability(facts: Facts, _: GateSettings) -> Verdict:
    """A stored episode replays to the same observations and rewards in another process."""
    return _same_again(facts, "semantic.replayability", "a stored episode", lambda play: play.transcript)


def verifier_determinism(facts: Facts, _: GateSettings) -> Verdict:
    """The same actions are paid the same, wherever and whenever they are judged."""
    return _same_again(
        facts, "semantic.verifier_determinism", "the same actions", lambda play: tuple(s.reward for s in play.steps)
    )


def _same_again(facts: Facts, gate: str, what: str, of: Callable[[Play], object]) -> Verdict:
    played = {p.sent for p in facts.by(Player.ORACLE, process=1) if p.failure is None}
    if not played:
        return errored(gate, "No episode could be played twice.")
    groups = repeated(facts.plays)
    differ = [key for key, group in groups.items() if any(of(play) != of(group[0]) for play in group[1:])]
    if differ:
        message = (
            f"Playing {what} again gives something else ({len(differ)} of {len(groups)}). Depend on seed and actions."
        )
        return failed(gate, message, len(differ), 0)
    return passed(gate, 0, 0)


def _solution_problem(facts: Facts, turns: int) -> str:
    for seed, reply in facts.solutions.items():
        if not reply.ok:
            return f"`solution()` fails with seed {seed}: {reply.detail}"
        if not reply.actions:
            return f"`solution()` is empty with seed {seed}; return the actions that solve the instance just reset."
        if len(reply.actions) > turns:
            return (
                f"`solution()` needs {len(reply.actions)} turns with seed {seed}, but the episode ends after {turns}."
            )
        for action in reply.actions:
            if action_of(f"\\boxed{{{action}}}") != action:
                return f"The solution's action {action[:60]!r} cannot be said in a box: trim spaces and balance braces."
    return "" if facts.solutions else "No instance could be reset, so there is no solution."


def _constant_answer(facts: Facts) -> str | None:
    wins: dict[str, set[int]] = {}
    tried: dict[str, set[int]] = {}
    for play in facts.by(Player.CONSTANT):
        if len(set(play.sent)) == 1:
            tried.setdefault(play.sent[0], set()).add(play.seed)
            if play.won:
                wins.setdefault(play.sent[0], set()).add(play.seed)
    for action, seeds in wins.items():
        if len(seeds) >= CONSTANT_WINS and len(seeds) > 0.5 * len(tried[action]):
            return action
    return None


def _paid_for_taking_part(facts: Facts) -> float:
    """The one positive reward that most first actions of different kinds earn on most instances, if there is one.

    Where there are few kinds of action, all of them may be progress once; then all steps of random play count.
    """
    plays = [p for p in facts.by(Player.RANDOM, Player.CONSTANT) if p.steps and not p.won]
    varied = len({p.sent[0] for p in plays}) >= MIN_KINDS
    steps = (
        [p.steps[0] for p in plays] if varied else [s for p in facts.by(Player.RANDOM) for s in p.steps if not p.won]
    )
    reward, count = Counter(round(s.reward, 6) for s in steps).most_common(1)[0] if steps else (0.0, 0)
    return reward if reward > TOLERANCE and count >= MOST * len(steps) else 0.0


def _paid_for_form(facts: Facts) -> str:
    """A meaningless text that earns something on every instance where saying nothing earns less."""
    idle = {p.seed: p.steps[0].reward for p in facts.by(Player.NOTHING, process=0) if p.steps}
    texts = set(nonsense([a for actions in facts.solved.values() for a in actions])) - {""}
    paid: dict[str, set[int]] = {}
    plays = [p for p in facts.by(Player.FORMAT) if p.steps]
    for play in plays:
        for said, step in zip(play.sent, play.steps, strict=False):
            if said in texts and step.reward > idle.get(play.seed, 0.0) + TOLERANCE:
                paid.setdefault(said, set()).add(play.seed)
    everywhere = {p.seed for p in plays}
    return next((said for said, seeds in paid.items() if len(seeds) >= 2 and seeds == everywhere), "")


__all__ = [
    "Play",
    "canary_floor",
    "floor_gap",
    "interactive",
    "no_solution_leakage",
    "oracle_max",
    "replayability",
    "verifier_determinism",
]
