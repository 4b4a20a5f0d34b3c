"""Which episodes may be trained on and for what, and why not the others (docs/datasets.md).

Every episode gets one decision a pool. The reasons of a pool are checked in one fixed order and the first that applies
is stored, so the same episodes under the same rules are decided alike, whoever asks and when.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial

from spade.acting import items_of, listed_tools
from spade.boxes import last_box
from spade.episodes import Arm, Episode
from spade.identity import canonical, content_id, digest, fingerprint


class Pool(StrEnum):
    """What a decision is about."""

    POSITIVE = "positive"
    """Plain-arm, measured, won, replay-verified, format-clean, not a duplicate."""
    HARD_NEGATIVE = "hard_negative"
    """Plain-arm, measured, lost, on an environment that is provably solvable. Labelled; never a positive."""
    GROUP = "group"
    """A plain play of an environment and round whose returns differ, with every token known: fit for reinforcement."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether one episode entered a pool. `reason` is empty when it did; `rules` names the rules it was decided by."""

    episode_id: str
    pool: Pool
    kept: bool
    reason: str = ""
    rules: str = ""

    @property
    def decision_id(self) -> str:
        return content_id("decision", self.episode_id, self.pool, *([self.rules] if self.rules else []))


@dataclass(frozen=True, slots=True)
class Rules:
    """What may differ between datasets. `latin_share`: the least share of letters in Latin script, 0 for any script."""

    max_turns: int = 25
    max_characters: int = 200_000
    latin_share: float = 0.0
    guided: bool = True
    """Whether turns decoded under a guide may be positives."""

    @property
    def name(self) -> str:
        return fingerprint(asdict(self))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of episodes beyond themselves.

    `replayed`: episode ids whose replay gave the stored transcript. `solvable`: environment ids whose oracle reached
    the full return. `blemished`: episode ids of which something could not be stored as it was. `contaminated`: what an
    episode shares with evaluation data, by episode id. `left_out`: episode and environment ids that people excluded.
    `refused`: why reviewers refuse an episode, by episode id.
    """

    replayed: frozenset[str] = frozenset()
    solvable: frozenset[str] = frozenset()
    blemished: frozenset[str] = frozenset()
    contaminated: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)


def decide(episodes: Sequence[Episode], evidence: Evidence, rules: Rules = Rules()) -> Iterator[Decision]:
    """The decisions of all pools over the episodes of one or more whole cycles, pool by pool, in the order given."""
    barred = [_against_any(episode, evidence) for episode in episodes]
    spread = _groups_with_spread(episodes)
    decided = partial(_decided, episodes, barred, rules.name)
    yield from decided(Pool.POSITIVE, lambda e: _against_positive(e, evidence, rules))
    yield from decided(Pool.HARD_NEGATIVE, lambda e: _against_negative(e, evidence, rules))
    yield from decided(Pool.GROUP, lambda e: _against_group(e, spread), distinct=False)


def decide_positives(episodes: Sequence[Episode], replayed: frozenset[str]) -> Iterator[Decision]:
    """The decisions of the positive pool alone, by no named rules."""
    rules, evidence = Rules(), Evidence(replayed=replayed)
    barred = [_against_any(episode, evidence) for episode in episodes]
    yield from _decided(episodes, barred, "", Pool.POSITIVE, lambda e: _against_positive(e, evidence, rules))


def _decided(
    episodes: Sequence[Episode],
    barred: Sequence[str],
    rules: str,
    pool: Pool,
    against: Callable[[Episode], str],
    *,
    distinct: bool = True,
) -> Iterator[Decision]:
    """The decisions of one pool. `barred`: what keeps each episode out of every pool."""
    seen: set[str] = set()
    for episode, bar in zip(episodes, barred, strict=True):
        reason = bar or against(episode)
        if not reason and distinct:
            transcript = transcript_digest(episode)
            reason = "duplicate transcript" if transcript in seen else ""
            seen.add(transcript)
        yield Decision(episode.episode_id, pool, not reason, reason, rules)


def transcript_digest(episode: Episode) -> str:
    """Equal for episodes in which the same things were seen and said."""
    return digest(canonical([(t.observation, t.reply) for t in episode.turns]))


def _against_any(episode: Episode, evidence: Evidence) -> str:
    """What keeps an episode out of every pool."""
    if episode.asked.arm is not Arm.PLAIN:
        return "hinted arm"
    if not episode.outcome.measured or episode.return_ is None:
        return f"not measured: {episode.outcome}"
    if episode.episode_id in evidence.blemished:
        return "not stored as it was"
    if evidence.left_out & {episode.episode_id, episode.asked.env_id}:
        return "left out by a person"
    return evidence.refused.get(episode.episode_id, "")


def _against_text(episode: Episode, evidence: Evidence, rules: Rules) -> str:
    """What is wrong with the words of an episode."""
    if len(episode.turns) > rules.max_turns:
        return f"more than {rules.max_turns} turns"
    if sum(len(t.observation) + len(t.reply) for t in episode.turns) > rules.max_characters:
        return f"longer than {rules.max_characters} characters"
    if rules.latin_share and latin_share("".join(t.reply for t in episode.turns)) < rules.latin_share:
        return "not in Latin script"
    shared = evidence.contaminated.get(episode.episode_id)
    return f"contaminated: {shared}" if shared else ""


def _against_positive(episode: Episode, evidence: Evidence, rules: Rules) -> str:
    if not episode.won:
        return "lost"
    if reason := _against_form(episode):
        return reason
    if not rules.guided and any(turn.guided for turn in episode.turns):
        return "a guided turn"
    if reason := _against_text(episode, evidence, rules):
        return reason
    return "" if episode.episode_id in evidence.replayed else "replay differs"


def _against_form(episode: Episode) -> str:
    """What is wrong with how the agent acted: with calls where the first observation lists tools, else in boxes."""
    if episode.turns and listed_tools(episode.turns[0].observation):
        return "a turn without a tool call" if any(items_of(turn.action) is None for turn in episode.turns) else ""
    return "a turn without a boxed action" if any(last_box(turn.reply) is None for turn in episode.turns) else ""


def _against_negative(episode: Episode, evidence: Evidence, rules: Rules) -> str:
    if episode.won:
        return "won"
    if episode.asked.env_id not in evidence.solvable:
        return "not proven solvable"
    return _against_text(episode, evidence, rules)


def _against_group(episode: Episode, spread: frozenset[tuple[str, str, int]]) -> str:
    if group_of(episode) not in spread:
        return "all returns of the group are equal"
    exact = all(
        t.tokens is not None and t.tokens.output_ids and t.tokens.logprobs and t.tokens.prompt_ids is not None
        for t in episode.turns
    )
    return "" if exact and episode.turns else "tokens or log-probabilities are missing"


def group_of(episode: Episode) -> tuple[str, str, int]:
    """Episodes of one group are compared with each other: the same cycle, environment and round."""
    return episode.asked.cycle_id, episode.asked.env_id, episode.asked.round


def _groups_with_spread(episodes: Sequence[Episode]) -> frozenset[tuple[str, str, int]]:
    returns: dict[tuple[str, str, int], set[float]] = defaultdict(set)
    for episode in episodes:
        if episode.asked.arm is Arm.PLAIN and episode.return_ is not None:
            returns[group_of(episode)].add(episode.return_)
    return frozenset(group for group, values in returns.items() if len(values) > 1)


def latin_share(text: str) -> float:
    """The share of letters that are Latin, accents and all; 1 for a text without letters."""
    letters = Counter("latin" if c < "\u0250" or "\u1e00" <= c < "\u1f00" else "other" for c in text if c.isalpha())
    return letters["latin"] / letters.total() if letters else 1.0
