"""One game as an OpenEnv environment; the program runs in a child process of the server."""

from pathlib import Path
from random import SystemRandom
from typing import Any
from uuid import uuid4

from models import SpadeAction, SpadeObservation  # type: ignore[import-not-found]
from openenv.core.env_server.interfaces import Environment  # type: ignore[import-not-found]
from openenv.core.env_server.types import State  # type: ignore[import-not-found]
from server.spade_game import Game, GameError  # type: ignore[import-not-found]

PROGRAM = Path(__file__).resolve().parent / "program.py"


class GameEnvironment(Environment):  # type: ignore[misc]
    """`reset(seed)` draws an instance; rewards are increments that sum to at most 1."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game: Any = None
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> SpadeObservation:
        if self._game is None:
            self._game = Game(PROGRAM)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        text = self._game.reset(seed if seed is not None else SystemRandom().randrange(2**31))
        return SpadeObservation(text=text, reward=0.0, done=False)

    def step(self, action: SpadeAction, timeout_s: float | None = None, **_: Any) -> SpadeObservation:
        if self._game is None:
            raise RuntimeError("call reset first")
        self._state.step_count += 1
        try:
            step = self._game.step(action.action)
        except GameError as error:
            self.close()
            return SpadeObservation(text=f"The game broke: {error}", reward=0.0, done=True)
        done = step.terminated or step.truncated
        return SpadeObservation(text=step.observation, reward=step.reward, done=done, truncated=step.truncated)

    @property
    def state(self) -> Any:
        return self._state

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
        self._game = None
