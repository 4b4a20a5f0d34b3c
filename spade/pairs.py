"""Preference pairs: a win and a loss of the same environment on the same seed, so that luck is no part of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spade.episodes import Episode
from spade.identity import content_id


@dataclass(frozen=True, slots=True)
class Pair:
    """`chosen_id` won, `rejected_id` lost; both began with the same words."""

    chosen_id: str
    rejected_id: str

    @property
    def pair_id(self) -> str:
        return content_id("pair", self.chosen_id, self.rejected_id)


def preference_pairs(wins: Sequence[Episode], losses: Sequence[Episode]) -> Iterator[Pair]:
    """Each win and each loss in at most one pair: the shortest win of a seed with its longest loss, and so on inwards.

    Both lists come from pools of curation. Where the first observation differs although the seed is the same, there is
    no pair: the two did not face the same task.
    """
    by_task: dict[tuple[str, int, str, str], tuple[list[Episode], list[Episode]]] = defaultdict(lambda: ([], []))
    for place, episodes in enumerate((wins, losses)):
        for episode in episodes:
            first = episode.turns[0].observation if episode.turns else ""
            by_task[episode.asked.env_id, episode.asked.seed, episode.system, first][place].append(episode)
    for task in sorted(by_task):
        won, lost = by_task[task]
        won.sort(key=lambda e: (len(e.turns), e.episode_id))
        lost.sort(key=lambda e: (-len(e.turns), e.episode_id))
        yield from (Pair(win.episode_id, loss.episode_id) for win, loss in zip(won, lost, strict=False))
