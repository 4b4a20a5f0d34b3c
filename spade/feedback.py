"""What the next attempt of a slot is told, and when it is told nothing because telling has not helped."""

from collections.abc import Sequence

from spade.attempts import Attempt
from spade.verdicts import Status, Verdict

MOST = 2
"""How often a slot is told of one gate in vain; of the same words only once."""


def refusal(attempt: Attempt) -> Verdict | None:
    """The verdict that stopped an attempt."""
    return next((v for v in attempt.verdicts if v.gate == attempt.rejected_by), None)


def worth_telling(attempts: Sequence[Attempt]) -> bool:
    """Whether the last attempt's refusal should go into the next prompt; else the next attempt starts afresh.

    Not worth telling is what no designer can mend: a gate that could not be judged. Nor what was told before in vain:
    a gate that refused the very attempts that were told of it, twice, or once with the same words.
    """
    vain: dict[str, list[str]] = {}
    told: Verdict | None = None
    for attempt in attempts:
        verdict = refusal(attempt)
        if told is not None and verdict is not None and verdict.gate == told.gate:
            vain.setdefault(told.gate, []).append(told.message)
        told = verdict if verdict is not None and _helps(verdict, vain.get(verdict.gate, [])) else None
    return told is not None


def _helps(verdict: Verdict, in_vain: Sequence[str]) -> bool:
    return verdict.status is Status.FAIL and len(in_vain) < MOST and verdict.message not in in_vain


def exhausted(attempts: Sequence[Attempt]) -> str:
    """Why a slot ended without an environment: the gate that refused most of its attempts, the last of equals."""
    gates = [attempt.rejected_by for attempt in attempts]
    return max(reversed(gates), key=gates.count, default="")
