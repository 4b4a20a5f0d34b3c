"""Whether acting matters: enough turns, or replies that teach what was hidden."""

import re

from spade.gates.facts import Facts, Play, Player
from spade.gates.literals import normal

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN = re.compile(r"\w+|[^\w\s]")


def effective_turns(facts: Facts) -> int:
    """Turns that the oracle needs: its shortest solution, less a beginning that can be left out. 0 when unknown."""
    lengths = [len(actions) for actions in facts.solved.values()]
    if not lengths:
        return 0
    tried: dict[int, list[bool]] = {}
    for play in facts.by(Player.SUFFIX):
        tried.setdefault(len(play.sent), []).append(play.won)
    shortcuts = [length for length, wins in tried.items() if sum(wins) * 2 > len(wins)]
    return min([*lengths, *shortcuts])


def teaches(facts: Facts) -> bool:
    """Whether the same wrong action is answered differently on different instances, and different ones differently on
    one instance, with something that the first observation did not say already, while the episode goes on."""
    by_action: dict[str, dict[int, str]] = {}
    probes = _probes(facts)
    steady = _steady(probes)
    for play in probes:
        echoed = set(_TOKEN.findall(play.sent[0].casefold())) - steady[play.seed]
        by_action.setdefault(play.sent[0], {})[play.seed] = _news(play, echoed | _own_words(play, facts))
    across_seeds = any(len(set(replies.values())) > 1 for replies in by_action.values())
    by_seed: dict[int, set[str]] = {}
    for replies in by_action.values():
        for seed, news in replies.items():
            by_seed.setdefault(seed, set()).add(news)
    return across_seeds and any(len(news) > 1 for news in by_seed.values())


def _probes(facts: Facts) -> list[Play]:
    return [p for p in facts.by(Player.PROBE) if p.failure is None and p.steps and not p.ended]


def _steady(probes: list[Play]) -> dict[int, set[str]]:
    """Tokens that an instance's replies hold whatever is said."""
    steady: dict[int, set[str]] = {}
    for play in probes:
        tokens = set(_TOKEN.findall(play.steps[0].observation.casefold()))
        steady[play.seed] = steady.get(play.seed, tokens) & tokens
    return steady


def _news(play: Play, masked: set[str]) -> str:
    """The reply less what was known: sentences of the first observation go, its instance's own words and the action
    become blanks, so that a question repeated or a guess echoed teaches nothing."""
    known = {normal(s) for s in _SENTENCE.split(play.observation)}
    sentences = [s for s in _SENTENCE.split(play.steps[0].observation) if normal(s) not in known]
    tokens = [("_" if t in masked else t) for t in _TOKEN.findall(" ".join(sentences).casefold())]
    return re.sub(r"_( _)*", "_", " ".join(tokens))


def _own_words(play: Play, facts: Facts) -> set[str]:
    """Tokens of this instance's first observation that not every instance's has."""
    every = [set(_TOKEN.findall(r.observation.casefold())) for r in facts.greetings.values() if r.ok]
    shared = set.intersection(*every) if every else set()
    return set(_TOKEN.findall(play.observation.casefold())) - shared
