"""After a cycle: is something amiss? Then no further slot begins, and an event tells the automations."""

from prefect.events import emit_event

from data.memory import description
from spade.alarms import Thresholds, alarm
from spade.summary import CycleSummary
from spade.vendi import vendi
from tasks.factory import Factory

ALARM = "spade.alarm"
FINISHED = "spade.cycle-finished"
"""Events of ours; `flows/automations.py` says what follows from them."""


def diversity(factory: Factory) -> float | None:
    """The Vendi score of the cycle's environments, by the memory's embedder."""
    environments = factory.progress.environments()
    return vendi(factory.memory.embedder.embed([description(e) for e in environments])) if environments else None


def raise_alarms(factory: Factory, summary: CycleSummary, score: float | None) -> str:
    """Tell that the cycle is finished, and stop the slice when something is amiss; why, or an empty text."""
    settings = factory.settings.alarms
    why = alarm(summary, score, Thresholds(settings.min_vendi, settings.max_dropped, settings.max_unmeasured))
    resource = {
        "prefect.resource.id": f"spade.cycle.{summary.cycle_id}",
        "prefect.resource.name": f"cycle {summary.number}",
    }
    payload = {"accepted": summary.accepted, "episodes": summary.episodes, "vendi": score, "why": why}
    emit_event(FINISHED, resource, payload=payload)
    if why:
        emit_event(ALARM, resource, payload=payload)
        factory.budget.stop(f"alarm: {why}")
        factory.watcher.saw("alarm", summary.cycle_id, why=why)
    return why
