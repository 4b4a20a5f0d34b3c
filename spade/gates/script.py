"""Scripted plays: what is to be said, as calls of a game, and the replies turned into a record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spade.gates.facts import Play, Player
from spade.outcomes import Reply
from spade.ports import Ask


@dataclass(frozen=True, slots=True)
class Script:
    """One play to be made: from the first observation to the actions.

    `opening` is said before them and `after` once the episode has ended. Up to `again` further plays say what was left
    unsaid because the episode ended or failed before. `fixed` says that the first observation does not matter.
    """

    player: Player
    seed: int
    actions: Callable[[str], Sequence[str]]
    after: tuple[str, ...] = ()
    note: str = ""
    opening: tuple[str, ...] = ()
    again: int = 0
    fixed: bool = False

    def said(self, greeting: str) -> tuple[str, ...]:
        return (*self.opening, *self.actions(greeting))


def saying(player: Player, seed: int, actions: Sequence[str], after: tuple[str, ...] = (), note: str = "") -> Script:
    """A script that says the same whatever it sees."""
    return Script(player, seed, lambda _: actions, after, note, fixed=True)


def spread(script: Script, turns: int) -> list[Script]:
    """A script that will take several episodes of at most so many turns, as one for each, to be played in one go.

    What an episode leaves unsaid because it ended early still follows by `again`.
    """
    actions, room = tuple(script.actions("")), max(1, turns - len(script.opening))
    pieces = [actions[at : at + room] for at in range(0, len(actions), room)]
    return [replace(script, actions=lambda _, piece=piece: piece, again=len(piece)) for piece in pieces]  # type: ignore[misc]


@dataclass(slots=True)
class Log:
    """What one play has seen so far."""

    script: Script
    process: int
    greeting: Reply
    sent: list[str] = field(default_factory=list)
    steps: list[Reply] = field(default_factory=list)
    after: list[Reply] = field(default_factory=list)
    failure: Reply | None = None
    failed_at: str = ""

    def __post_init__(self) -> None:
        self._check(self.greeting, "reset")

    @property
    def over(self) -> bool:
        """Ended, or failed."""
        steps = self.steps[-1].steps if self.steps else ()
        return self.failure is not None or (bool(steps) and (steps[-1].terminated or steps[-1].truncated))

    def take_steps(self, reply: Reply) -> None:
        self.steps.append(reply)
        self._check(reply, f"step {sum(len(r.steps) for r in self.steps) + 1}")

    def take_after(self, reply: Reply) -> None:
        self.after.append(reply)
        self._check(reply, "a step after the end")

    def record(self) -> Play:
        return Play(
            player=self.script.player,
            process=self.process,
            seed=self.script.seed,
            sent=tuple(self.sent),
            observation=self.greeting.observation,
            steps=tuple(step for reply in self.steps for step in reply.steps),
            after=tuple(step for reply in self.after for step in reply.steps),
            failure=self.failure,
            failed_at=self.failed_at,
            seconds=sum(reply.seconds for reply in self.steps),
            note=self.script.note,
        )

    def _check(self, reply: Reply, where: str) -> None:
        if not reply.ok and self.failure is None:
            self.failure, self.failed_at = reply, where


def asks_of(script: Script, actions: tuple[str, ...]) -> list[Ask]:
    """A play as calls of a game."""
    asks = [Ask("reset", seed=script.seed)]
    if actions:
        asks.append(Ask("steps", actions=actions))
    return [*asks, *(Ask("step", actions=(action,)) for action in script.after)]


def log_of(script: Script, process: int, actions: tuple[str, ...], replies: Sequence[Reply]) -> Log:
    """A play from the replies to its calls; fewer of them where one was fatal."""
    log = Log(script, process, replies[0])
    if not replies[0].ok:
        return log
    log.sent += actions
    rest = list(replies[1:])
    if actions and rest:
        log.take_steps(rest.pop(0))
    for reply in rest if log.over else ():
        if log.failure is None:
            log.take_after(reply)
    return log
