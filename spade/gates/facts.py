"""What the sandbox said of a program: the record that every gate beyond the text judges by."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spade.gates.source import Source
from spade.outcomes import CallOutcome, Reply, Step
from spade.skills import Setting

WIN = 1.0 - 1e-6
TOLERANCE = 1e-6
FRESH_PROCESSES = (2, 3, 4)
"""Numbers of the processes that are started only to tell why plays differ; odd ones run under hash seed 1."""
MIN_TURNS, MAX_TURNS = 3, 25
"""Bounds of an environment's own turn cap (arXiv 2608.19197 plays at most 25 turns)."""


class Player(StrEnum):
    """Who played, or why a play was made."""

    ORACLE = "oracle"
    """`solution()`, played like any agent."""
    NOTHING = "nothing"
    RANDOM = "random"
    FUZZ = "fuzz"
    """Texts that break careless programs."""
    ECHO = "echo"
    """Says back what it last saw."""
    FORMAT = "format"
    """Well-formed words without meaning."""
    LISTING = "listing"
    """Everything at once."""
    CONSTANT = "constant"
    """One action again and again."""
    OTHER = "other"
    """The solution of another instance."""
    READER = "reader"
    """What can be read off the observation."""
    SUFFIX = "suffix"
    """Only the end of the solution."""
    PROBE = "probe"
    """One wrong action, to see whether its reply teaches."""
    CONFIRM = "confirm"
    """A suspicious player again, on further instances."""
    DISTRACTED = "distracted"
    """Calls only tools that the solution never calls."""
    UNREVEALED = "unrevealed"
    """The solution with a value exchanged that nothing had shown."""
    FRESH = "fresh"
    """The first play of a process, to tell what lasts between episodes from what differs between processes."""


@dataclass(frozen=True, slots=True)
class Play:
    """One scripted play. `sent` holds the actions offered; fewer steps than actions mean an end or a failure.

    `after` are steps made after the end. `failure` is the call that did not go well, `failed_at` where. `note`
    tells plays of one player apart.
    """

    player: Player
    process: int
    seed: int
    sent: tuple[str, ...]
    observation: str = ""
    steps: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    failure: Reply | None = None
    failed_at: str = ""
    seconds: float = 0.0
    note: str = ""

    @property
    def ended(self) -> bool:
        return bool(self.steps) and (self.steps[-1].terminated or self.steps[-1].truncated)

    @property
    def return_(self) -> float:
        return sum(step.reward for step in self.steps)

    @property
    def won(self) -> bool:
        return self.failure is None and self.return_ >= WIN

    @property
    def transcript(self) -> tuple[str, tuple[Step, ...]]:
        return self.observation, self.steps

    @property
    def observations(self) -> tuple[str, ...]:
        """The first observation and those of all steps, those after the end included."""
        return (self.observation, *(s.observation for s in self.steps), *(s.observation for s in self.after))


@dataclass(frozen=True, slots=True)
class Resolved:
    """What `solution()` said of an instance in one process."""

    process: int
    seed: int
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of one program. Stages add to it; gates only read it.

    `seeds` are the instances looked at; `greetings` and `solutions` hold the replies of `reset` and `solution` for
    them, `resolved` the solutions as asked for again and elsewhere, `isolation` the sandbox's own report.
    """

    source: Source
    setting: Setting
    seeds: tuple[int, ...]
    opened: tuple[Reply, ...] = ()
    greetings: Mapping[int, Reply] = field(default_factory=dict)
    solutions: Mapping[int, Reply] = field(default_factory=dict)
    resolved: tuple[Resolved, ...] = ()
    plays: tuple[Play, ...] = ()
    isolation: Mapping[str, Any] = field(default_factory=dict)

    def by(self, *players: Player, process: int | None = None) -> list[Play]:
        return [p for p in self.plays if p.player in players and process in (None, p.process)]

    @property
    def cap(self) -> int:
        """Turns within which every episode must end."""
        return min(self.source.max_turns or MAX_TURNS, MAX_TURNS)

    @property
    def solved(self) -> dict[int, tuple[str, ...]]:
        """Seeds whose `solution()` gave actions, with these."""
        return {seed: reply.actions for seed, reply in self.solutions.items() if reply.ok and reply.actions}

    @property
    def finals(self) -> list[str]:
        """The last action of each solution."""
        return [actions[-1] for actions in self.solved.values() if actions]

    @property
    def replies(self) -> Iterator[tuple[str, Reply]]:
        """Every call that did not go well, with where it was made."""
        yield from (("open", reply) for reply in self.opened if not reply.ok)
        yield from ((f"reset({seed})", reply) for seed, reply in self.greetings.items() if not reply.ok)
        yield from ((f"solution() after reset({seed})", r) for seed, r in self.solutions.items() if not r.ok)
        for play in self.plays:
            if play.failure is not None:
                yield f"{play.failed_at} of the {play.player} play with seed {play.seed}", play.failure

    def failures(self, *outcomes: CallOutcome) -> list[tuple[str, Reply]]:
        return [(where, reply) for where, reply in self.replies if reply.outcome in outcomes]


def repeated(plays: Iterable[Play]) -> dict[tuple[int, tuple[str, ...]], list[Play]]:
    """Plays by seed and actions that were made more than once and did not fail."""
    groups: dict[tuple[int, tuple[str, ...]], list[Play]] = {}
    for play in plays:
        if play.failure is None:
            groups.setdefault((play.seed, play.sent), []).append(play)
    return {key: group for key, group in groups.items() if len(group) > 1}


def differing(facts: Facts) -> list[tuple[int, tuple[str, ...]]]:
    """(seed, actions) of what was not the same whenever it was played; no actions where greeting or solution differ."""
    greeted: dict[int, set[str]] = {seed: {r.observation} for seed, r in facts.greetings.items() if r.ok}
    solved: dict[int, set[tuple[str, ...]]] = {}
    ours = [play for play in facts.plays if play.process < FRESH_PROCESSES[0]]
    for play in ours:
        if play.failure is None:
            greeted.setdefault(play.seed, set()).add(play.observation)
    for known in facts.resolved:
        if known.process < FRESH_PROCESSES[0]:
            solved.setdefault(known.seed, set()).add(known.actions)
    changed = [
        key
        for key, group in repeated(ours).items()
        if any(play.transcript != group[0].transcript for play in group[1:])
    ]
    changed += [(seed, ()) for said in (greeted, solved) for seed, answers in said.items() if len(answers) > 1]
    return changed
