"""What the rules need from the world. Adapters implement these; nothing here imports them.

Everything that waits is a coroutine: thousands of games and calls share one event loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, Protocol, runtime_checkable

from spade.messages import Completion, Request
from spade.outcomes import Reply


class Model(Protocol):
    """A language model behind some endpoint."""

    @property
    def name(self) -> str:
        """What the endpoint calls the model."""
        ...

    @property
    def weights(self) -> str:
        """Which version of the weights answers; recorded with every episode."""
        ...

    async def complete(self, request: Request) -> Completion:
        """One completion. Raises `Retry` when the endpoint keeps failing after its own retries, `Skip` when it refuses
        this very request (too long, filtered), `Abort` when no request can succeed (wrong key, unknown model)."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. Seconds are wall time per call and CPU time per game."""

    wall_seconds: float = 5.0
    cpu_seconds: float = 30.0
    memory_mb: int = 256
    scratch_mb: int = 8


class Game(Protocol):
    """One untrusted program in a process of its own. After a fatal outcome every call answers with that outcome."""

    async def reset(self, seed: int) -> Reply: ...

    async def step(self, action: str) -> Reply: ...

    async def steps(self, actions: Sequence[str]) -> Reply:
        """Play several actions in one round trip; stops at the first end of the episode or failure."""
        ...

    async def solution(self) -> Reply:
        """The actions that solve the instance just reset. For the gates only, never for an agent."""
        ...

    async def close(self) -> None:
        """Kill the process and everything it started. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a game, to be made with others in one round trip. `step` takes one action, `steps` several."""

    call: Literal["reset", "step", "steps", "solution"]
    seed: int = 0
    actions: tuple[str, ...] = ()


@runtime_checkable
class BundleGame(Protocol):
    """What a game may offer besides: many calls in one round trip, which makes thousands of scripted plays cheap."""

    async def ask_many(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        """The replies in order. Stops after a fatal one, which is then the last; a program's error is not fatal. One
        deadline holds for several calls together, so a time-out says only that one of them took too long."""
        ...


class IsolationLevel(IntEnum):
    """How well a program is kept in. A run refuses to start below `sandbox.required_level`."""

    UNSAFE = 1
    CONFINED = 2
    NAMESPACED = 3
    VM = 4


class Sandbox(Protocol):
    """Where untrusted programs run."""

    @property
    def level(self) -> IsolationLevel: ...

    def report(self) -> Mapping[str, Any]:
        """Level, layers, properties, what is missing and why, self-test: JSON values."""
        ...

    async def open(self, program: str, limits: Limits, *, hash_seed: int = 0) -> "Opened":
        """Load a program (not yet reset). `hash_seed` 0 or 1 picks the interpreter's hash seed, so that the gates can
        run one program under two of them. Raises `Retry` only when the sandbox itself cannot start."""
        ...


@dataclass(frozen=True, slots=True)
class Opened:
    """The answer to `Sandbox.open`: `reply` says how loading ended; `game` is there when it ended well."""

    reply: Reply
    game: Game | None = None


class Catalog(Protocol):
    """Append-only record of everything, readable while others write."""

    def append(self, table: str, records: Iterable[Any]) -> None:
        """Store frozen records; the same id twice leaves one. Raises `Abort` when the place is not writable."""
        ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Read with SQL over the tables as views."""
        ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """A remembered environment and how near it is (cosine similarity in [-1, 1])."""

    env_id: str
    similarity: float
    payload: Mapping[str, Any]


class Memory(Protocol):
    """Scored environments, findable by meaning."""

    @property
    def semantic(self) -> bool:
        """Whether similarity is about meaning, so that a cosine threshold says something about duplicates."""
        ...

    def add(self, env_id: str, text: str, payload: Mapping[str, Any]) -> None: ...

    def nearest(self, text: str, count: int) -> list[Recalled]: ...
