"""A game as TRL plays it: `GRPOTrainer(..., environment_factory=SpadeEnv)` over the rows beside this file.

`reset` takes the columns of a row. The prompt already shows the first observation, so `reset` adds nothing to it. The
return is the sum of the rewards, in [0, 1]; a game whose program fails pays what it paid until then.
"""

from pathlib import Path
from typing import Any

from spade_game import Game, GameError, Step  # type: ignore[import-not-found]

PROGRAMS = Path(__file__).resolve().parent / "programs"


class SpadeEnv:
    """One game at a time; the only tool is `act`."""

    def __init__(self) -> None:
        self._game: Game | None = None
        self._return = 0.0
        self._over = True

    def reset(self, env_id: str = "", seed: int = 0, **_: Any) -> None:
        """Begin the game of one row."""
        self._close()
        self._return, self._over = 0.0, False
        self._game = Game(PROGRAMS / f"{env_id}.py")
        self._game.reset(int(seed))

    def act(self, action: str) -> str:
        """
        Make one move in the game.

        Args:
            action: The move, in the form the game asks for.

        Returns:
            What you see next.
        """
        if self._over or self._game is None:
            return "The game is over."
        try:
            step = self._game.step(action)
        except GameError as error:
            self._close()
            return f"The game broke: {error}"
        return self._after(step)

    def get_reward(self) -> float:
        """The sum of the rewards so far."""
        return self._return

    def _after(self, step: Step) -> str:
        self._return += step.reward
        if step.terminated or step.truncated:
            self._close()
            return f"{step.observation}\nThe game is over."
        return str(step.observation)

    def _close(self) -> None:
        self._over = True
        if self._game is not None:
            self._game.close()
        self._game = None

    def __del__(self) -> None:
        self._close()
