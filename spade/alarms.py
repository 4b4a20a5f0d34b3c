"""What in a finished cycle a person should look at before more of the same is made."""

from dataclasses import dataclass

from spade.summary import CycleSummary


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least Vendi score as a share of the accepted environments; largest shares of dropped slots, unmeasured plays."""

    min_vendi: float = 0.0
    max_dropped: float = 1.0
    max_unmeasured: float = 1.0


def alarm(summary: CycleSummary, vendi: float | None, thresholds: Thresholds) -> str:
    """Why generation should pause after this cycle; empty when nothing is amiss."""
    dropped = summary.dropped / summary.slots if summary.slots else 0.0
    if dropped > thresholds.max_dropped:
        return f"{summary.dropped} of {summary.slots} slots are without an environment"
    faulty = summary.episodes - summary.measured
    if summary.episodes and faulty / summary.episodes > thresholds.max_unmeasured:
        return f"{faulty} of {summary.episodes} plays ended in a fault"
    if vendi is not None and summary.accepted and vendi / summary.accepted < thresholds.min_vendi:
        return f"{summary.accepted} environments are only {vendi:.1f} really different ones (Vendi score)"
    return ""
