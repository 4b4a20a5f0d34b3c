"""Whether acting matters: enough turns, or replies that teach what was hidden."""

import re

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


def teaches(facts: Facts) -> bool:
    """Whether the same wrong action is answered differently on different instances, and different ones differently on
    one instance, with something that the first observation did not say already, while the episode goes on."""
    by_action: dict[str, dict[int, str]] = {}
    probes = _probes(facts)
    steady, own = _steady(probes), _own_words(facts)
    for play in probes:
        echoed = set(_TOKEN.findall(play.sent[0].casefold())) - steady[play.seed]
        by_action.setdefault(play.sent[0], {})[play.seed] = _news(play, echoed | own.get(play.seed, set()))
    across_seeds = any(len(set(replies.values())) > 1 for replies in by_action.values())
    by_seed: dict[int, set[str]] = {}
    for replies in by_action.values():
        for seed, news in replies.items():
            by_seed.setdefault(seed, set()).add(news)
    return across_seeds and any(len(news) > 1 for news in by_seed.values())


def _probes(facts: Facts) -> list[Play]:
    return [p for p in facts.by(Player.PROBE) if p.failure is None and p.steps and not _over(p.steps[0])]


def _over(step: Step) -> bool:
    return step.terminated or step.truncated


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


def _own_words(facts: Facts) -> dict[int, set[str]]:
    """Per instance the tokens that are its own: words that not every first observation has, and all numbers of those
    lines that not every first observation has."""
    texts = {seed: reply.observation.casefold() for seed, reply in facts.greetings.items() if reply.ok}
    every = {seed: set(_TOKEN.findall(text)) for seed, text in texts.items()}
    shared = set.intersection(*every.values()) if every else set()
    lines = varying(texts)
    numbers = {seed: {t for t in _TOKEN.findall(text) if t.isdecimal()} for seed, text in lines.items()}
    return {seed: (tokens - shared) | numbers[seed] for seed, tokens in every.items()}
