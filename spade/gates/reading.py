"""Whether the answer can be read off what the program prints before the end: by play, or by text where it is sure."""

from collections import Counter

from spade.gates.answers import AnswerForm, answer_form, readings
from spade.gates.facts import Facts, Play, Player
from spade.gates.literals import menu, normal, shows, varying
from spade.outcomes import Step

FOLLOWED = 0.95
"""Share of turns on which a reading rule must name the oracle's action to count as printing the solution."""
READER_WINS = 0.9
"""Confirmed win rate from which a reading rule is a leak."""
MIN_FOLLOWED = 6
SURE_LENGTH = 3
"""Answers longer than this are found in a text by more than chance."""
FEW = 2
"""Among more things of an answer's form, printing it is offering it, not telling it."""


def suspects(facts: Facts) -> list[str]:
    """Reading rules that won on at least three instances when the readers tried what they had read."""
    wins: dict[str, set[int]] = {}
    for play in facts.by(Player.READER):
        if play.won and not play.note:
            winner = play.sent[len(play.steps) - 1]
            for rule, pick in readings(play.observation, facts.finals).items():
                if pick == winner:
                    wins.setdefault(rule, set()).add(play.seed)
    return [rule for rule, seeds in wins.items() if len(seeds) >= 3][:4]


def leaks(facts: Facts) -> list[str]:
    """One message a way in which the answer can be read before the end."""
    return [*_confirmed_rules(facts), *_after_one_try(facts), *_followed_rules(facts), *_printed(facts)]


def _confirmed_rules(facts: Facts) -> list[str]:
    found = []
    for rule in dict.fromkeys(p.note for p in facts.by(Player.CONFIRM)):
        plays = [p for p in facts.by(Player.CONFIRM) if p.note == rule]
        rate = sum(p.won for p in plays) / len(plays)
        if rate >= READER_WINS:
            found.append(f"A player that answers with {rule} in the first observation wins {rate:.0%} of its plays.")
    return found


def _after_one_try(facts: Facts) -> list[str]:
    """The reply to a wrong answer names the right one, and the game goes on."""
    plays = [p for p in facts.by(Player.READER) if p.note == "reply" and p.won]
    seeds = {p.seed for p in plays}
    if len(seeds) >= 3:
        told = "The reply to a wrong or malformed answer names the right one while the episode goes on; "
        return [told + "say it only at the end."]
    return []


def _followed_rules(facts: Facts) -> list[str]:
    """One rule that names the oracle's action on every turn: whoever follows it plays the solution."""
    hits: Counter[str] = Counter()
    turns, said = 0, set()
    for play in _oracle_plays(facts):
        seen = [play.observation, *(s.observation for s in play.steps[:-1])]
        for text, action in zip(seen, play.sent, strict=False):
            turns += 1
            said.add(normal(action))
            hits.update({rule for rule, pick in readings(text, facts.finals).items() if normal(pick) == normal(action)})
    if turns < MIN_FOLLOWED or len(said) < 3:
        return []
    return [
        f"Each observation prints the right next action: {rule}. Let the agent work it out."
        for rule, count in hits.most_common(1)
        if count >= FOLLOWED * turns
    ]


def _printed(facts: Facts) -> list[str]:
    """The whole solution in an observation before the end, on most instances."""
    plays = _oracle_plays(facts)
    fresh = varying({play.seed: play.observation for play in plays})
    form = answer_form(facts.finals)
    shown: list[int] = []
    for play in plays:
        actions = facts.solved[play.seed]
        before = [fresh[play.seed]]
        if len(actions) > 1:
            before += [s.observation for s in play.steps[: len(actions) // 2]]
            tries = facts.by(Player.PROBE, Player.NOTHING)
            before += [s.observation for t in tries if t.seed == play.seed for s in _open_steps(t)]
        if any(_prints(text, actions, play.observation, form) for text in before):
            shown.append(play.seed)
    if plays and len(shown) * 5 >= len(plays) * 3:
        return [f"An observation before the end prints the whole solution (seeds {shown}). Never show it."]
    return []


def _prints(text: str, actions: tuple[str, ...], greeting: str, form: AnswerForm | None) -> bool:
    if len(actions) > 1:
        return len(set(actions)) > 1 and shows(text, actions)
    answer = actions[0].strip()
    if len(answer) <= SURE_LENGTH or normal(answer) in map(normal, menu(greeting)):
        return False
    return shows(text, [answer]) and form is not None and len(form.found(text)) <= FEW


def _open_steps(play: Play) -> list[Step]:
    return [s for s in play.steps if not (s.terminated or s.truncated)]


def _oracle_plays(facts: Facts) -> list[Play]:
    """One won oracle play an instance."""
    return list({p.seed: p for p in facts.by(Player.ORACLE, process=1) if p.won}.values())
