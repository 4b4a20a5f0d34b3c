"""Who plays a game to find out whether winning means something: random players, tricks, readers, and second looks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

from spade.gates.answers import readings
from spade.gates.facts import Facts, Player
from spade.gates.interaction import effective_turns, greets_alike, teaches
from spade.gates.literals import literals, normal, offered
from spade.gates.reading import suspects
from spade.gates.script import Script, saying
from spade.gates.scripts import everything, nonsense, own_words, redrawn, spoken_verbs, vocabulary, written_constants
from spade.identity import digest, rng_for
from spade.settings import GateSettings

CONFIRMATIONS = 12
"""Further instances on which a suspicious player must win as well."""
CANARY_SEEDS = 3
CONSTANTS = 4
READER_TRIES = 16
READER_PLAYS = 4
"""Further plays of a reader whose wrong answers end the game."""
PROBES = 4


def judging_seeds(code: str, count: int) -> tuple[int, ...]:
    """Seeds that the program's author could not foresee: small and large, even and odd, drawn from the text's hash."""
    rng = rng_for(0, "gates", digest(code))
    tops = (10, 1000, 2**31, 2**31, 2**20)
    return tuple(rng.randrange(tops[i % len(tops)] // 2) * 2 + i % 2 for i in range(count))


def further_seeds(code: str, count: int, purpose: str) -> tuple[int, ...]:
    rng = rng_for(0, "gates", purpose, digest(code))
    return tuple(rng.randrange(2**31) for _ in range(count))


def random_scripts(facts: Facts, settings: GateSettings, *, more: bool = False) -> list[Script]:
    words = vocabulary([r.observation for r in facts.greetings.values()], list(facts.solved.values()))
    count = 3 * settings.random_plays if more else settings.random_plays
    code = facts.source.code
    turns = facts.cap

    def actions(seed: int, greeting: str) -> list[str]:
        rng = rng_for(seed, "random player")
        own = own_words(words, greeting)
        return [own.draw(rng) for _ in range(turns)]

    seeds = further_seeds(code, count, "more random" if more else "random")
    if greets_alike(facts):  # then the greeting is known, and need not be asked for before the play
        alike = next(iter(facts.greetings.values())).observation
        return [saying(Player.RANDOM, s, actions(s, alike)) for s in seeds]
    return [Script(Player.RANDOM, s, lambda greeting, s=s: actions(s, greeting)) for s in seeds]  # type: ignore[misc]


def more_random(facts: Facts, settings: GateSettings) -> list[Script]:
    """Near the threshold 32 plays say too little either way."""
    plays = facts.by(Player.RANDOM)
    if not plays:
        return []
    rate, most = sum(p.won for p in plays) / len(plays), settings.random_win_max
    return random_scripts(facts, settings, more=True) if most / 2 < rate < most + 0.25 * (1 - most) else []


def canary_scripts(facts: Facts) -> list[Script]:
    """Tricks, on the first three instances; the rest follows where one of them wins."""
    turns, solved = facts.cap, facts.solved
    pool = [a for actions in solved.values() for a in actions]
    greetings = [r.observation for r in facts.greetings.values()]
    listing = everything(greetings, list(dict.fromkeys(pool)))
    common = [action for action, _ in Counter(pool).most_common(CONSTANTS)]
    scripts: list[Script] = []
    for seed in facts.seeds[:CANARY_SEEDS]:
        scripts += [saying(Player.FORMAT, seed, list(islice(cycle(nonsense(pool)), turns)))]
        scripts += [replace(saying(Player.LISTING, seed, listing), again=len(listing))]
        scripts += [Script(Player.ECHO, seed, lambda greeting: [greeting] * turns)]
        scripts += [saying(Player.CONSTANT, seed, [action] * turns) for action in common]
    for own, actions in list(solved.items())[:1]:
        scripts += [saying(Player.OTHER, seed, actions) for seed in facts.seeds if seed != own]
    written = written_constants(facts.source)
    for seed in facts.seeds[:2]:
        scripts.append(replace(saying(Player.CONSTANT, seed, written, note="written"), again=len(written)))
    return scripts


def reading_scripts(facts: Facts) -> list[Script]:
    solved, finals = facts.solved, facts.finals
    scripts: list[Script] = []
    for seed in facts.seeds:
        answer = solved.get(seed, ())[-1:]
        reader = Script(Player.READER, seed, lambda text, answer=answer: _tries(text, finals, answer))  # type: ignore[misc]
        scripts.append(replace(reader, again=READER_PLAYS))
    for seed, actions in list(solved.items())[:3]:
        lengths = range(1, min(len(actions), 4))
        scripts += [saying(Player.SUFFIX, seed, actions[-length:]) for length in lengths]
    tries = max(1, facts.cap - 1)
    for seed, actions in solved.items():
        wrong = next((a for a in finals if a != actions[-1]), None)
        if wrong is not None:
            scripts.append(saying(Player.PROBE, seed, [wrong] * tries, note="final"))
    return scripts


def _tries(text: str, finals: Sequence[str], answer: Sequence[str]) -> list[str]:
    """What a reader says, one after another; what it happens to be right about comes first, to save plays."""
    picks = list(dict.fromkeys([*readings(text, finals).values(), *literals(text)]))
    known = {normal(a) for a in answer}
    return sorted(picks, key=lambda pick: normal(pick) not in known)[:READER_TRIES]


def probe_scripts(facts: Facts, settings: GateSettings, *, more: bool = False) -> list[Script]:
    """The same wrong actions on every instance, where only their replies can make the game worth more than one turn.

    `more` asks for the second half of the actions, for games that did not teach by the first.
    """
    if (effective_turns(facts) >= settings.min_turns and not greets_alike(facts)) or (more and teaches(facts)):
        return []
    words = vocabulary([r.observation for r in facts.greetings.values()], list(facts.solved.values()))
    rng = rng_for(0, "probes", digest(facts.source.code))
    shown = list(dict.fromkeys(action for reply in facts.greetings.values() for action in offered(reply.observation)))
    drawn = [redrawn(action, rng) for action in shown[:PROBES] for _ in range(2)]
    first = [*words.pool[:2], *shown[:2], *drawn[:2]]
    greetings = [reply.observation for reply in facts.greetings.values()]
    rest = [
        *words.pool[2:PROBES],
        *spoken_verbs(facts.source, greetings),
        *(words.draw(rng) for _ in range(PROBES)),
        *shown[2 : 2 + PROBES],
        *drawn[2:],
    ]
    wrong = [action for action in dict.fromkeys(rest if more else first) if not (more and action in first)]
    solved = facts.solved
    return [
        saying(Player.PROBE, seed, [a]) for seed in facts.seeds for a in wrong if a not in solved.get(seed, ())[-1:]
    ]


def after_reading(facts: Facts) -> list[Script]:
    """After wrong and malformed answers: what a reply prints, as the next answer; of all replies but the first to a
    wrong one only what is right."""
    scripts, finals = [], facts.finals
    wrong = [play for play in facts.by(Player.PROBE) if play.note == "final"]
    for play in (*wrong, *facts.by(Player.NOTHING, process=0), *facts.by(Player.FORMAT)):
        known = {*literals(play.observation), *play.sent}
        answer = normal(facts.solved[play.seed][-1]) if play.seed in facts.solved else ""
        for at, step in enumerate(play.steps, 1):
            if step.terminated or step.truncated:
                break
            any_pick = at == 1 and play.player is Player.PROBE
            if not any_pick and not _mentions(step.observation, answer):
                continue
            picks = dict.fromkeys(readings(step.observation, finals).values())
            new = [pick for pick in picks if pick not in known and (any_pick or normal(pick) == answer)]
            known.update(new)
            scripts += [saying(Player.READER, play.seed, [*play.sent[:at], pick], note="reply") for pick in new]
    return scripts


def _mentions(text: str, answer: str) -> bool:
    """Whether the text holds the last word of an answer, without which no reading can make the answer."""
    return bool(answer) and answer.split(" ")[-1] in text.casefold()


def confirm_scripts(facts: Facts) -> list[Script]:
    seeds = further_seeds(facts.source.code, CONFIRMATIONS, "confirm")
    turns = facts.cap
    scripts: list[Script] = []
    for action in suspicious_constants(facts):
        scripts += [saying(Player.CONSTANT, s, [action] * turns) for s in (*facts.seeds, *seeds)]
    for rule in suspects(facts):
        scripts += [_by_rule(rule, seed, facts.finals) for seed in (*facts.seeds, *seeds)]
    return scripts


def _by_rule(rule: str, seed: int, finals: list[str]) -> Script:
    def actions(greeting: str) -> list[str]:
        pick = readings(greeting, finals).get(rule)
        return [pick] if pick else []

    return Script(Player.CONFIRM, seed, actions, note=rule)


def suspicious_constants(facts: Facts) -> list[str]:
    """Actions whose repetition won on two instances, or that won where the program's own constants were tried."""
    wins: Counter[str] = Counter()
    for play in facts.by(Player.CONSTANT):
        if play.won:
            final = play.sent[len(play.steps) - 1]
            wins[final] += 2 if play.note and (final,) != facts.solved.get(play.seed, ())[-1:] else 1
    return [action for action, count in wins.items() if count >= 2][:3]
