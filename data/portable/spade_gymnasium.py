"""The environments beside this file for Gymnasium: `register_all()`, then `gymnasium.make("spade/env-…-v0")`.

Observations and actions are texts. The reward of a step is what the program paid for it; the return of an episode lies
in [0, 1]. Each environment runs in a child process; `close` ends it.
"""

from pathlib import Path
from typing import Any

import gymnasium  # type: ignore[import-not-found]
from gymnasium.spaces import Text  # type: ignore[import-not-found]
from spade_game import Game  # type: ignore[import-not-found]

PROGRAMS = Path(__file__).resolve().parent / "programs"


ASCII = "".join(map(chr, range(32, 127))) + "\n\t"
SEEN = ASCII + "".join(c for c in map(chr, range(160, 0x3000)) if c.isprintable())
"""What observations are made of: Latin and other alphabets, arrows, mathematics, box drawing."""


class SpadeEnv(gymnasium.Env[str, str]):  # type: ignore[misc]
    """One program in a child process."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, program: str) -> None:
        self.observation_space = Text(max_length=1 << 16, charset=SEEN)
        self.action_space = Text(max_length=1 << 12, charset=ASCII)
        self._program = program
        self._game = Game(program)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        drawn = seed if seed is not None else int(self.np_random.integers(2**31))
        return self._game.reset(drawn), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        step = self._game.step(str(action))
        return step.observation, step.reward, step.terminated, step.truncated, {}

    def close(self) -> None:
        self._game.close()


def register_all() -> list[str]:
    """Register every program; the names to give to `gymnasium.make`."""
    names = []
    for program in sorted(PROGRAMS.glob("env-*.py")):
        name = f"spade/{program.stem}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=SpadeEnv, kwargs={"program": str(program)})
        names.append(name)
    return names
