"""What in a finished cycle a person should look at before more of the same is made."""

from dataclasses import dataclass

from spade.summary import CycleSummary

ALARM = "spade.alarm"
FINISHED = "spade.cycle-finished"
READY = "spade.samples-ready"
"""Events of ours; `flows/automations.py` says what follows from them."""
LEAST_ENVIRONMENTS = 20
"""Fewer say nothing of a lack of variety."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least Vendi score as a share of the environments it was taken over, judged from `LEAST_ENVIRONMENTS` on; largest
    shares of dropped slots, unmeasured plays."""

    min_vendi: float = 0.0
    max_dropped: float = 1.0
    max_unmeasured: float = 1.0


def alarm(summary: CycleSummary, thresholds: Thresholds) -> str:
    """Why generation should pause after this cycle; empty when nothing is amiss."""
    dropped = summary.dropped / summary.slots if summary.slots else 0.0
    if dropped > thresholds.max_dropped:
        return f"{summary.dropped} of {summary.slots} slots are without an environment"
    faulty = summary.episodes - summary.measured
    if summary.episodes and faulty / summary.episodes > thresholds.max_unmeasured:
        return f"{faulty} of {summary.episodes} plays ended in a fault"
    found, share = summary.curriculum, summary.curriculum.vendi_share
    if share is not None and found.vendi_of >= LEAST_ENVIRONMENTS and share < thresholds.min_vendi:
        return (
            f"the latest {found.vendi_of} environments are only {found.vendi:.1f} really different ones (Vendi score)"
        )
    return ""
