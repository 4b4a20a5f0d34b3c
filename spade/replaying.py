"""Do stored episodes replay: do the same seed and actions give the same transcript and rewards?"""

from collections.abc import Sequence

from spade.episodes import Episode
from spade.ports import Game, Limits, Sandbox


async def replayed(episodes: Sequence[Episode], code: str, sandbox: Sandbox, limits: Limits) -> frozenset[str]:
    """The ids of those of one environment's episodes that replay: every observation, reward and end is as stored.

    All are asked of one process, one after another. What differs there is asked once more of a process of its own, as
    it was played: a program that remembers earlier episodes is not held against this one.
    """
    same = await _same_in_one(episodes, code, sandbox, limits)
    for episode in episodes:
        if episode.episode_id not in same:
            same |= await _same_in_one([episode], code, sandbox, limits)
    return frozenset(same)


async def _same_in_one(episodes: Sequence[Episode], code: str, sandbox: Sandbox, limits: Limits) -> set[str]:
    opened = await sandbox.open(code, limits)
    if opened.game is None:
        return set()
    try:
        return {episode.episode_id for episode in episodes if await _same(episode, opened.game)}
    finally:
        await opened.game.close()


async def _same(episode: Episode, game: Game) -> bool:
    """One reset, then all actions in one batch."""
    start = await game.reset(episode.asked.seed)
    if not start.ok or not episode.turns or start.observation != episode.turns[0].observation:
        return False
    played = await game.steps([turn.action for turn in episode.turns])
    after = [*(turn.observation for turn in episode.turns[1:]), episode.final_observation]
    stored = [
        (seen, turn.reward, turn.terminated, turn.truncated) for seen, turn in zip(after, episode.turns, strict=True)
    ]
    return played.ok and stored == [(s.observation, s.reward, s.terminated, s.truncated) for s in played.steps]
