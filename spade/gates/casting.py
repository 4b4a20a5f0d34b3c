"""Who plays a game to find out whether winning means something: random players, tricks, readers, and second looks."""

from collections import Counter
from itertools import cycle, islice

from spade.gates.facts import Facts, Player
from spade.gates.interaction import effective_turns
from spade.gates.literals import labelled, literals
from spade.gates.probe import Script, saying
from spade.gates.reading import forms, suspects
from spade.gates.scripts import everything, nonsense, own_words, vocabulary, written_constants
from spade.identity import digest, rng_for
from spade.settings import GateSettings

CONFIRMATIONS = 12
"""Further instances on which a suspicious player must win as well."""
CONSTANTS = 4
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
    return [Script(Player.RANDOM, s, lambda greeting, s=s: actions(s, greeting)) for s in seeds]  # type: ignore[misc]


def more_random(facts: Facts, settings: GateSettings) -> list[Script]:
    """Near the threshold 32 plays say too little either way."""
    plays = facts.by(Player.RANDOM)
    if not plays:
        return []
    rate, most = sum(p.won for p in plays) / len(plays), settings.random_win_max
    return random_scripts(facts, settings, more=True) if most / 2 < rate < most + 0.25 * (1 - most) else []


def canary_scripts(facts: Facts) -> list[Script]:
    turns, solved = facts.cap, facts.solved
    pool = [a for actions in solved.values() for a in actions]
    greetings = [r.observation for r in facts.greetings.values()]
    listing = everything(greetings, list(dict.fromkeys(pool)))
    scripts: list[Script] = []
    common = [action for action, _ in Counter(pool).most_common(CONSTANTS)]
    for seed in facts.seeds:
        scripts += [saying(Player.FORMAT, seed, list(islice(cycle(nonsense(pool)), turns)))]
        scripts += [saying(Player.LISTING, seed, listing)]
        scripts += [Script(Player.ECHO, seed, lambda greeting: [greeting] * turns)]
        scripts += [saying(Player.CONSTANT, seed, [action] * turns) for action in common]
    others = list(solved.items())[:2]
    scripts += [saying(Player.OTHER, s, actions) for own, actions in others for s in facts.seeds if s != own]
    written = written_constants(facts.source)
    scripts += [
        saying(Player.CONSTANT, seed, written[at : at + turns], note="written")
        for seed in facts.seeds[:3]
        for at in range(0, len(written), turns)
    ]
    return scripts


def reading_scripts(facts: Facts) -> list[Script]:
    turns, solved, said = facts.cap, facts.solved, forms(facts)
    scripts = [Script(Player.READER, seed, lambda text: literals(text, said)[:turns]) for seed in facts.seeds]
    for seed, actions in list(solved.items())[:3]:
        lengths = range(1, min(len(actions), 4))
        scripts += [saying(Player.SUFFIX, seed, actions[-length:]) for length in lengths]
    finals = [actions[-1] for actions in solved.values() if actions]
    for seed, actions in solved.items():
        wrong = next((a for a in finals if a != actions[-1]), None) if actions else None
        if wrong is not None:
            scripts.append(saying(Player.PROBE, seed, [wrong], note="final"))
    return scripts


def probe_scripts(facts: Facts, settings: GateSettings) -> list[Script]:
    """The same wrong actions on every instance, where only their replies can make the game worth more than one turn."""
    scripts = _after_reading(facts)
    if effective_turns(facts) >= settings.min_turns:
        return scripts
    words = vocabulary([r.observation for r in facts.greetings.values()], list(facts.solved.values()))
    rng = rng_for(0, "probes", digest(facts.source.code))
    wrong = list(dict.fromkeys([*words.pool[:PROBES], *(words.draw(rng) for _ in range(PROBES))]))[: 2 * PROBES]
    solved = facts.solved
    for seed in facts.seeds:
        scripts += [saying(Player.PROBE, seed, [a]) for a in wrong if a not in solved.get(seed, ())[-1:]]
    return scripts


def _after_reading(facts: Facts) -> list[Script]:
    """After one wrong answer: what its reply prints, as the next answer."""
    scripts, said = [], forms(facts)
    for play in facts.by(Player.PROBE):
        if play.note == "final" and play.steps and not play.ended:
            known = {*literals(play.observation), *play.sent}
            picks = list(dict.fromkeys(labelled(play.steps[0].observation, said).values()))
            scripts += [
                saying(Player.READER, play.seed, [*play.sent, pick], note="reply")
                for pick in picks
                if pick not in known
            ]
    return scripts


def confirm_scripts(facts: Facts) -> list[Script]:
    seeds = further_seeds(facts.source.code, CONFIRMATIONS, "confirm")
    turns, said = facts.cap, forms(facts)
    scripts: list[Script] = []
    for action in suspicious_constants(facts):
        scripts += [saying(Player.CONSTANT, s, [action] * turns) for s in (*facts.seeds, *seeds)]
    for rule in suspects(facts):
        scripts += [_by_rule(rule, seed, said) for seed in (*facts.seeds, *seeds)]
    return scripts


def _by_rule(rule: str, seed: int, said: list[str]) -> Script:
    return Script(
        Player.CONFIRM, seed, lambda text: [pick] if (pick := labelled(text, said).get(rule)) else [], note=rule
    )


def suspicious_constants(facts: Facts) -> list[str]:
    """Actions whose repetition won on three instances, or that won where the program's own constants were tried."""
    wins: Counter[str] = Counter()
    for play in facts.by(Player.CONSTANT):
        if play.won:
            final = play.sent[len(play.steps) - 1]
            wins[final] += 3 if play.note and (final,) != facts.solved.get(play.seed, ())[-1:] else 1
    return [action for action, count in wins.items() if count >= 3][:3]
