"""Who or what a failure is about: the words that the gates of level 2 share."""

from spade.boxes import CHAT_MARKUP
from spade.gates.facts import Play
from spade.outcomes import CallOutcome, Reply, Step

LIMITS = (CallOutcome.ENV_TIMEOUT, CallOutcome.ENV_MEMORY)


def blamed(reply: Reply) -> str:
    """What a refused answer was wrong in: `reward`, `flags`, `observation`, `resources`, or `` for anything else."""
    if reply.outcome in LIMITS:
        return "resources"
    if reply.outcome is not CallOutcome.ENV_PROTOCOL:
        return ""
    for word, about in (("reward", "reward"), ("terminated", "flags"), ("observation", "observation")):
        if word in reply.detail[:80].lower() and "must return (" not in reply.detail:
            return about
    return ""


def markup(play: Play, suspicious: set[str]) -> str:
    """Chat markup that the program prints of its own accord, not because it says an action back."""
    said = "\n".join(play.sent)
    shown = (text for text in play.observations if text in suspicious)
    return next((mark[0] for text in shown for mark in CHAT_MARKUP.finditer(text) if mark[0] not in said), "")


def mute(step: Step) -> bool:
    """Nothing said although the episode goes on; after the last step there is nothing left to say."""
    return not (step.observation.strip() or step.terminated or step.truncated)


def named(play: Play) -> str:
    actions = [action[:24] for action in play.sent[: max(1, min(3, len(play.steps)))]]
    return f"{play.player} player, seed {play.seed}, actions {actions}"
