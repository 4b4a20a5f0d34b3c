"""Which episodes may be trained on, and why not the others (docs/method.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from spade.boxes import last_box
from spade.episodes import Arm, Episode
from spade.identity import canonical, content_id, digest


class Pool(StrEnum):
    """What a decision is about."""

    POSITIVE = "positive"
    """Plain-arm, measured, won, replay-verified, format-clean, not a duplicate."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether one episode entered a pool. `reason` is empty when it did."""

    episode_id: str
    pool: Pool
    kept: bool
    reason: str = ""

    @property
    def decision_id(self) -> str:
        return content_id("decision", self.episode_id, self.pool)


def decide_positives(episodes: Sequence[Episode], replayed: frozenset[str]) -> Iterator[Decision]:
    """One decision an episode, in the order given. `replayed` holds the ids whose replay gave the stored transcript."""
    seen: set[str] = set()
    for episode in episodes:
        reason = _against(episode, replayed)
        transcript = transcript_digest(episode)
        if not reason and transcript in seen:
            reason = "duplicate transcript"
        if not reason:
            seen.add(transcript)
        yield Decision(episode.episode_id, Pool.POSITIVE, not reason, reason)


def transcript_digest(episode: Episode) -> str:
    """Equal for episodes in which the same things were seen and said."""
    return digest(canonical([(t.observation, t.reply) for t in episode.turns]))


def _against(episode: Episode, replayed: frozenset[str]) -> str:
    if episode.asked.arm is not Arm.PLAIN:
        return "hinted arm"
    if not episode.outcome.measured:
        return f"not measured: {episode.outcome}"
    if not episode.won:
        return "lost"
    if any(last_box(turn.reply) is None for turn in episode.turns):
        return "a turn without a boxed action"
    if episode.episode_id not in replayed:
        return "replay differs"
    return ""
