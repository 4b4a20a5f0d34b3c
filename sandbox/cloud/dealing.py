"""How we deal with E2B: how fast, how often, and what its errors mean here."""

from dataclasses import dataclass

from spade.errors import Abort


class MachineLost(Exception):
    """The machine is gone or cannot be reached, or could not be had; the text says why."""


class NoneFree(MachineLost):
    """E2B gives no further machine for now."""


@dataclass(frozen=True)
class Pace:
    """Seconds and counts of the dealings with E2B; tests shorten them."""

    lifetime: int = 300
    """How long a machine outlives the last renewal; it is renewed six times as often."""
    beat: float = 5.0
    silence: float = 30.0
    """A machine that says nothing for so long is given up; it says something every `beat`."""
    start: float = 90.0
    request: float = 30.0
    creations: int = 4
    """Machines being made at once."""
    jitter: float = 0.5
    """Up to so long a creation waits where others are under way."""
    tries: int = 4


def attributed(error: Exception) -> Exception:
    """What an error of the SDK means here."""
    from e2b.exceptions import AuthenticationException, InvalidArgumentException, RateLimitException, TemplateException

    if isinstance(error, MachineLost | Abort):
        return error
    if isinstance(error, AuthenticationException):
        return Abort(f"E2B refuses the key: {error}", "Set E2B_API_KEY to a key of your account.")
    final = isinstance(error, InvalidArgumentException | TemplateException)
    if final or getattr(error, "status_code", None) in (400, 403, 404):
        return Abort(f"E2B makes no machine: {error}", "See sandbox.template and your account's limits.")
    if isinstance(error, RateLimitException):
        return NoneFree(str(error))
    return MachineLost(f"{type(error).__name__}: {error}")
