"""Whether acting matters: enough turns, or replies that teach what was hidden."""

import re
from functools import lru_cache

from spade.gates.facts import Facts, Play, Player
from spade.gates.literals import normal, varying
from spade.outcomes import Step

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


def greets_alike(facts: Facts) -> bool:
    """Whether the first observation says the same on every instance, so that all must come from the replies."""
    return len({reply.observation for reply in facts.greetings.values()}) == 1


def reveals(facts: Facts) -> bool:
    """Whether the same wrong action is answered differently on different instances, while the episode goes on."""
    replies: dict[str, set[str]] = {}
    for play in _probes(facts):
        replies.setdefault(play.sent[0], set()).add(play.steps[0].observation)
    return any(len(said) > 1 for said in replies.values())


def teaches(facts: Facts) -> bool:
    """Whether it is answered with something that the first observation did not say already.

    Either the news differ between instances: what no word of the first observation was. Or they are words of the first
    observation, such as `higher`, but then they must also depend on what was said: a question repeated does not.
    """
    probes = _probes(facts)
    steady, own, every = _steady(probes), _own_words(facts), _all_words(facts)
    new: dict[str, set[str]] = {}
    told: dict[str, set[str]] = {}
    by_seed: dict[int, set[str]] = {}
    for play in probes:
        echoed = _tokens(play.sent[0]) - steady[play.seed]
        news = _news(play, echoed | own.get(play.seed, frozenset()))
        new.setdefault(play.sent[0], set()).add(_news(play, echoed | every.get(play.seed, frozenset())))
        told.setdefault(play.sent[0], set()).add(news)
        by_seed.setdefault(play.seed, set()).add(news)
    if any(len(news) > 1 for news in new.values()):
        return True
    return any(len(news) > 1 for news in told.values()) and any(len(news) > 1 for news in by_seed.values())


def _probes(facts: Facts) -> list[Play]:
    return [p for p in facts.by(Player.PROBE) if p.failure is None and p.steps and not _over(p.steps[0])]


def _over(step: Step) -> bool:
    return step.terminated or step.truncated


def _steady(probes: list[Play]) -> dict[int, frozenset[str]]:
    """Tokens that an instance's replies hold whatever is said."""
    steady: dict[int, frozenset[str]] = {}
    for play in probes:
        tokens = _tokens(play.steps[0].observation)
        steady[play.seed] = steady.get(play.seed, tokens) & tokens
    return steady


def _news(play: Play, masked: frozenset[str]) -> str:
    """The reply less what was known: sentences of the first observation go, its instance's own words and the action
    become blanks, so that a question repeated or a guess echoed teaches nothing."""
    known = _sentences(play.observation)
    sentences = [s for s in _SENTENCE.split(play.steps[0].observation) if normal(s) not in known]
    tokens = [("_" if t in masked else t) for t in _TOKEN.findall(" ".join(sentences).casefold())]
    return re.sub(r"_( _)*", "_", " ".join(tokens))


@lru_cache(maxsize=16)
def _sentences(observation: str) -> frozenset[str]:
    return frozenset(normal(s) for s in _SENTENCE.split(observation))


@lru_cache(maxsize=64)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.casefold()))


def _all_words(facts: Facts) -> dict[int, frozenset[str]]:
    return {seed: _tokens(reply.observation) for seed, reply in facts.greetings.items() if reply.ok}


def _own_words(facts: Facts) -> dict[int, frozenset[str]]:
    """Per instance the tokens that are its own: words that not every first observation has, and all numbers of those
    lines that not every first observation has."""
    texts = {seed: reply.observation.casefold() for seed, reply in facts.greetings.items() if reply.ok}
    every = _all_words(facts)
    shared = frozenset.intersection(*every.values()) if every else frozenset[str]()
    lines = varying(texts)
    numbers = {seed: {t for t in _TOKEN.findall(text) if t.isdecimal()} for seed, text in lines.items()}
    return {seed: (tokens - shared) | numbers[seed] for seed, tokens in every.items()}
