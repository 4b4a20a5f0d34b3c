"""Does a stored episode replay: the same seed and actions, in a fresh process, give the same transcript and rewards?"""

from spade.episodes import Episode
from spade.ports import Limits, Sandbox


async def replays(episode: Episode, code: str, sandbox: Sandbox, limits: Limits) -> bool:
    """Whether every observation, reward and end is as stored. One sandbox visit, all actions in one batch."""
    opened = await sandbox.open(code, limits)
    if opened.game is None:
        return False
    try:
        start = await opened.game.reset(episode.asked.seed)
        if not start.ok or not episode.turns or start.observation != episode.turns[0].observation:
            return False
        played = await opened.game.steps([turn.action for turn in episode.turns])
    finally:
        await opened.game.close()
    after = [*(turn.observation for turn in episode.turns[1:]), episode.final_observation]
    stored = [
        (seen, turn.reward, turn.terminated, turn.truncated) for seen, turn in zip(after, episode.turns, strict=True)
    ]
    return played.ok and stored == [(s.observation, s.reward, s.terminated, s.truncated) for s in played.steps]
