"""Small records for the tests of what is stored."""

from spade.episodes import Arm, Asked, Episode, Turn
from spade.messages import Tokens, Usage
from spade.outcomes import EpisodeOutcome


def asked(cycle: str = "cycle-0", env: str = "env-0", play: int = 0, arm: Arm = Arm.PLAIN) -> Asked:
    return Asked(cycle, env, 0, arm, play, 7)


def turn(number: int = 0, last: bool = True) -> Turn:
    """A turn with exact tokens."""
    ids = tuple(range(number, number + 12))
    return Turn(
        observation=f"Guess a number from 1 to 9, try {number}.",
        reply="\\boxed{5}",
        action="5",
        reward=1.0 if last else 0.0,
        terminated=last,
        finish_reason="stop",
        guided=True,
        tokens=Tokens(ids, ids[:4], tuple(-0.25 * i for i in range(4))),
    )


def episode(
    cycle: str = "cycle-0",
    env: str = "env-0",
    play: int = 0,
    arm: Arm = Arm.PLAIN,
    won: bool = True,
    turns: int = 2,
) -> Episode:
    """A measured episode; its texts depend on `play`, so that no two are duplicates."""
    played = tuple(turn(10 * play + i, won and i == turns - 1) for i in range(turns))
    return Episode(
        asked=asked(cycle, env, play, arm),
        outcome=EpisodeOutcome.COMPLETED,
        turns=played,
        model="tiny",
        weights="tiny-1",
        return_=1.0 if won else 0.0,
        won=won,
        final_observation="Right." if won else "Wrong.",
        usage=Usage(20, 4, 0.001),
        seconds=0.25,
    )
