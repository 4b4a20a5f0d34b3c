"""Play an environment program in a locked child process. Standard library only; copied into exported packages.

    with Game("programs/env-0123456789abcdef.py") as game:
        observation = game.reset(seed=7)
        step = game.step("42")     # step.observation, step.reward, step.terminated, step.truncated

The folder `spade_confine` beside this file holds what the factory itself plays programs with. Before the child sees the
program, the kernel takes away its files but the interpreter's libraries (Landlock), and sockets, processes and signals
(seccomp); memory, CPU time and the time of a call are limited. Where the kernel cannot do that, `Game` raises
`Unconfined`; with SPADE_GAME_UNCONFINED=1 in the environment it then plays with limits alone: only inside a container.
"""

import math
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

CALL_SECONDS = 10.0
CPU_SECONDS = 60
MEMORY_MB = 1024
UNCONFINED = "SPADE_GAME_UNCONFINED"
CONFINEMENT = Path(__file__).resolve().parent / "spade_confine"


class GameError(Exception):
    """The program raised, answered something else than the contract says, ran out of time, or died."""


class Unconfined(GameError):
    """This machine cannot lock programs in, so nothing was played."""


class Step(NamedTuple):
    """What one action brought."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool


def _step_of(body: bytes) -> Step:
    """Raises `ValueError` or `struct.error` for what is no step."""
    form = _frames().STEP
    reward, flags = form.unpack_from(body)
    if not math.isfinite(reward) or flags > 3:
        raise ValueError("no step")
    return Step(body[form.size :].decode(), reward, bool(flags & 1), bool(flags & 2))


@cache
def _frames() -> Any:
    """What goes over the wire, from the folder beside this file, under whatever name this file was imported."""
    spec = spec_from_file_location("spade_frames", CONFINEMENT / "frames.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Game:
    """One program in one process. `close` it, or use it as a context manager."""

    def __init__(self, program: "str | Path", call_seconds: float = CALL_SECONDS) -> None:
        self._seconds, self._sequence = call_seconds, 0
        source = Path(program).read_bytes()
        self._wire, theirs = socket.socketpair()
        confined = "limits" if os.environ.get(UNCONFINED) == "1" else "confined"
        mathematics = "math_verify" if b"math_verify" in source else ""
        command = [sys.executable, "-s", "-B", str(Path(__file__).resolve()), str(theirs.fileno())]
        with theirs:
            self._child = subprocess.Popen(
                [*command, confined, mathematics],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0"},
                cwd="/",
            )
        frames = _frames()
        self._call("open", frames.LOAD, source, frames.LOADED)

    def reset(self, seed: int) -> str:
        """The first observation of the instance that `seed` draws, a whole number of at most 64 bits."""
        frames = _frames()
        try:
            body = frames.SEED.pack(seed)
        except struct.error:
            raise GameError(f"reset: the seed {seed!r} is no whole number of 64 bits") from None
        return str(self._call("reset", frames.RESET, body, frames.OBSERVED, bytes.decode))

    def step(self, action: str) -> Step:
        frames = _frames()
        step: Step = self._call("step", frames.PLAY, action.encode("utf-8", "replace"), frames.STEPPED, _step_of)
        return step

    def solution(self) -> list[str]:
        """The actions that solve the instance just reset."""
        frames = _frames()
        read = partial(frames.unpack_texts, most=frames.MAX_ACTIONS)
        actions: list[str] = self._call("solution", frames.SOLVE, b"", frames.SOLVED, read)
        return actions

    def close(self) -> None:
        self._child.kill()
        self._child.wait()
        self._wire.close()

    def __enter__(self) -> "Game":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, name: str, kind: int, body: bytes, wanted: int, read: Callable[[bytes], Any] = bytes) -> Any:
        """What `read` makes of the answer. Each failure is a `GameError`; after the program ended, all calls fail."""
        frames = _frames()
        try:
            answered, answer = self._exchange(kind, body)
            if answered == wanted:
                return read(answer)
            if answered not in (*frames.FAILURES, frames.UNSTARTED):
                raise ValueError(f"an answer of kind {answered}")
        except TimeoutError:
            self.close()
            raise GameError(f"{name}: no answer within {self._seconds} seconds") from None
        except (OSError, ValueError, struct.error) as error:
            self.close()
            raise GameError(f"{name}: the program ended or answered nonsense") from error
        text = answer.decode("utf-8", "replace")
        if answered == frames.UNSTARTED:
            self.close()
            raise Unconfined(
                f"This machine cannot confine the program: {text}. Play it on Linux 5.13 or later with Landlock and "
                f"seccomp, or set {UNCONFINED}=1 inside a container that holds nothing else."
            )
        if wanted == frames.LOADED:
            self.close()
        raise GameError(f"{name}: {text}")

    def _exchange(self, kind: int, body: bytes) -> tuple[int, bytes]:
        """Kind and body of the answer to one request. Raises `TimeoutError`, `OSError`, `ValueError`."""
        frames, until = _frames(), time.monotonic() + self._seconds
        self._sequence += 1
        self._wire.settimeout(self._seconds)
        self._wire.sendall(frames.frame(self._sequence, kind, body))
        length, sequence, answered = frames.HEAD.unpack(self._received(frames.HEAD.size, until))
        if not frames.HEAD_AFTER_LENGTH <= length <= frames.MAX_FRAME:
            raise ValueError(f"an answer of {length} bytes")
        answer = self._received(length - frames.HEAD_AFTER_LENGTH, until)
        if sequence != self._sequence and answered != frames.UNSTARTED:
            raise ValueError("an answer out of turn")
        return int(answered), answer

    def _received(self, count: int, until: float) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._wire.settimeout(max(0.001, until - time.monotonic()))
            data = self._wire.recv(count - len(parts))
            if not data:
                raise ValueError("the other end closed")
            parts += data
        return bytes(parts)


def _serve(descriptor: int, confined: bool, mathematics: bool) -> None:
    """The child's side: lock this process in, then answer as the factory's own sandbox does."""
    sys.path.insert(0, str(CONFINEMENT.parent))
    from spade_confine import allowed, controls, frames, program, serve  # type: ignore[import-not-found]

    os.dup2(descriptor, serve.CONTROL)
    controls.pure_datetime()
    if mathematics:
        _load_mathematics()
    program.quiet()
    names = program.builtins_for(allowed.ALLOWED_IMPORTS)
    try:
        serve.rehearse(names)
        _limit()
        if confined:
            _confine()
        else:
            os.closerange(serve.CONTROL + 1, 256)
    except Exception as error:  # noqa: BLE001 - whatever is missing here, the program must not start
        os.write(serve.CONTROL, frames.frame(0, frames.UNSTARTED, str(error).encode()[:500]))
        os._exit(97)
    del sys.path[:2]
    controls.control_clock(0)
    controls.control_randomness(0)
    controls.seed_module(0)
    serve.serve(names)


def _load_mathematics() -> None:
    """Load what some programs check answers with, while its files can still be read."""
    try:
        import math_verify  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
    math_verify.verify(math_verify.parse("$\\frac{1}{2} + x^2$"), math_verify.parse("$0.5 + x^2$"))


def _limit() -> None:
    import resource

    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_MB * 2**20),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def _confine() -> None:
    """Give up files, network, processes and privileges, for good. Raises `OSError` where the kernel cannot do it."""
    if sys.platform != "linux":
        raise OSError(f"{sys.platform} has no Landlock and no seccomp")
    from spade_confine import kernel, landlock, seccomp, serve

    abi = landlock.version()
    if not abi:
        raise OSError("its kernel has no Landlock, or this container forbids it")
    lock = seccomp.Filter()
    kernel.no_new_privileges()
    kernel.not_dumpable()
    kernel.drop_bounding_set()
    kernel.drop_capabilities()
    landlock.restrict(landlock.rules(_libraries(), [], abi))
    kernel.close_from(serve.CONTROL + 1)
    lock.install()


def _libraries() -> list[str]:
    """Where the interpreter and its libraries lie: all that a program can read."""
    own = [os.path.join(sys.base_prefix, name) for name in ("lib", sys.platlibdir)]
    return sorted({*own, "/usr/lib", "/usr/lib64", "/lib", "/lib64"})


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2] == "confined", sys.argv[3] == "math_verify")
