"""Play an environment program in a child process of its own. Standard library only; copied into exported packages.

    with Game("programs/env-0123456789abcdef.py") as game:
        observation = game.reset(seed=7)
        step = game.step("42")     # step.observation, step.reward, step.terminated, step.truncated

The child has an empty environment, limited memory, CPU time, file size and number of files, and a time limit a call.
That stops accidents and honest mistakes, not attacks: to run programs that nobody looked at, put all of this into a
container, or play them with spade-factory, which has a kernel sandbox.
"""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

CALL_SECONDS = 10.0
CPU_SECONDS = 60
MEMORY_MB = 1024


class GameError(Exception):
    """The program raised, answered something else than the contract says, ran out of time, or died."""


class Step(NamedTuple):
    """What one action brought."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool


class Game:
    """One program in one process. `close` it, or use it as a context manager."""

    def __init__(self, program: "str | Path", call_seconds: float = CALL_SECONDS) -> None:
        self._seconds = call_seconds
        self._child = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).resolve()), str(Path(program).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0"},
            cwd="/",
        )
        self._rest = b""
        self._call("open")

    def reset(self, seed: int) -> str:
        """The first observation of the instance that `seed` draws."""
        return str(self._call("reset", seed))

    def step(self, action: str) -> Step:
        return Step(*self._call("step", action))

    def solution(self) -> list[str]:
        """The actions that solve the instance just reset."""
        return [str(action) for action in self._call("solution")]

    def close(self) -> None:
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                pipe.close()

    def __enter__(self) -> "Game":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, name: str, *arguments: object) -> Any:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps([name, *arguments]).encode() + b"\n")
            self._child.stdin.flush()
            answer = json.loads(self._line())
        except (OSError, ValueError) as error:
            raise GameError(f"{name}: the program ended or answered nonsense") from error
        if "error" in answer:
            raise GameError(f"{name}: {answer['error']}")
        return answer["value"]

    def _line(self) -> bytes:
        assert self._child.stdout is not None
        until = time.monotonic() + self._seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._child.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self._child.kill()
                raise GameError(f"no answer within {self._seconds} seconds")
            data = os.read(self._child.stdout.fileno(), 1 << 16)
            if not data:
                raise GameError("the program ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _serve(program: str) -> None:
    """The child's side: one line in, one line out."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    source = Path(program).read_text("utf-8")
    _limit()
    environment: Any = None
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            if name == "open":
                environment, value = _loaded(source), None
            else:
                value = _called(environment, name, arguments)
            answer = {"value": value}
        except Exception as error:  # noqa: BLE001 - whatever the program raised becomes an answer
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _called(environment: Any, name: str, arguments: list[Any]) -> Any:
    if name == "reset":
        return str(environment.reset(seed=arguments[0])[0])
    if name == "solution":
        return [str(action) for action in environment.solution()]
    observation, reward, terminated, truncated, _ = environment.step(arguments[0])
    return [str(observation), float(reward), bool(terminated), bool(truncated)]


def _loaded(source: str) -> Any:
    """The one class of the program whose name ends in `Env`, made."""
    module = ModuleType("environment")
    exec(compile(source, "<environment>", "exec", dont_inherit=True), vars(module))  # noqa: S102 - the child's whole job
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == "environment" and value.__name__.endswith("Env")
    ]
    if len(found) != 1:
        raise TypeError(f"the program must define one class whose name ends in Env; found {len(found)}")
    return found[0]()


def _limit() -> None:
    import resource

    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_MB * 2**20),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    _serve(sys.argv[1])
