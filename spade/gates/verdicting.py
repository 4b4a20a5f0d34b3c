"""Short ways to write a verdict."""

from typing import Any

from spade.verdicts import Status, Verdict


def passed(gate: str, measured: Any = None, threshold: Any = None, message: str = "") -> Verdict:
    return Verdict(gate, Status.PASS, message, measured, threshold)


def failed(gate: str, message: str, measured: Any = None, threshold: Any = None) -> Verdict:
    return Verdict(gate, Status.FAIL, message, measured, threshold)


def warned(gate: str, message: str, measured: Any = None, threshold: Any = None) -> Verdict:
    return Verdict(gate, Status.WARN, message, measured, threshold)


def errored(gate: str, message: str, measured: Any = None) -> Verdict:
    """The gate could not be judged, which does not pass."""
    return Verdict(gate, Status.ERROR, message, measured)
