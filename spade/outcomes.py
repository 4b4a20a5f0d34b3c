"""How a call into an untrusted program ended, and how an episode ended: values that can be counted."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class CallOutcome(StrEnum):
    """How one call (`open`, `reset`, `step`, `solution`) of a program ended."""

    OK = "ok"
    ENV_ERROR = "env_error"
    """The program raised. It is still alive unless the detail says otherwise."""
    ENV_TIMEOUT = "env_timeout"
    """Out of wall or CPU time; the process is dead."""
    ENV_PROTOCOL = "env_protocol"
    """It answered something the contract does not allow, or its process ended; the process is dead."""
    ENV_MEMORY = "env_memory"
    """Over its memory limit."""
    SANDBOX_LOST = "sandbox_lost"
    """Ours, not the program's: the sandbox itself failed. Worth a retry."""


class EpisodeOutcome(StrEnum):
    """How an episode ended; exactly one (docs/method.md)."""

    COMPLETED = "completed"
    """The environment terminated. Measured."""
    TRUNCATED = "truncated"
    """The turn cap, or the agent spent its token or context budget. Measured: the sum so far."""
    ENV_ERROR = "env_error"
    ENV_TIMEOUT = "env_timeout"
    ENV_PROTOCOL = "env_protocol"
    ENV_MEMORY = "env_memory"
    SANDBOX_LOST = "sandbox_lost"
    MODEL_ERROR = "model_error"
    """The endpoint failed although the call was retried."""
    MODEL_REFUSED = "model_refused"
    """The endpoint refused this request."""

    @property
    def measured(self) -> bool:
        """Whether the return is a number."""
        return self in (EpisodeOutcome.COMPLETED, EpisodeOutcome.TRUNCATED)

    @property
    def blames_environment(self) -> bool:
        """Whether the program is at fault."""
        return self.value.startswith("env_")

    @property
    def worth_retrying(self) -> bool:
        """Whether the fault is ours or the endpoint's, so that the same play may succeed later."""
        return self in (EpisodeOutcome.SANDBOX_LOST, EpisodeOutcome.MODEL_ERROR)


class Step(NamedTuple):
    """What `step` returned, type-checked: the five values of the contract less `info`.

    A named tuple, since they are made by the million: a frozen dataclass takes four times as long to make.
    """

    observation: str
    reward: float
    terminated: bool
    truncated: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one call of a game.

    Exactly the fields that belong to the call are set when `outcome` is OK: `observation` for `reset`, `steps` for
    `step` (one) and `steps` (as many as were played until the first end or failure), `actions` for `solution`. A batch
    that failed in the middle keeps the steps before the failure. `detail` explains anything that is not OK in words a
    designer can act on (exception type, message and line in the program); `seconds` is wall time seen from the host.
    """

    outcome: CallOutcome
    observation: str = ""
    steps: tuple[Step, ...] = ()
    actions: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.outcome is CallOutcome.OK
