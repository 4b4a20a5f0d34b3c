"""After a cycle: where does the curriculum stand? Is something amiss? Then no slot begins, and an event tells it."""

from prefect.events import emit_event

from data.rating import matches_of, rate_cycle
from data.untrained import untrained_plays
from spade.alarms import ALARM, FINISHED, READY, Thresholds, alarm
from spade.curriculum import Curriculum, curriculum
from spade.summary import CycleSummary
from spade.vendi import vendi
from tasks.factory import Factory


def where_it_stands(factory: Factory) -> Curriculum:
    """Rate the cycle's plays, and say where the curriculum stands after them."""
    progress, window = factory.progress, factory.known.window()
    matches = matches_of(progress.all_episodes())
    ratings = rate_cycle(progress.catalog, progress.cycle.cycle_id, matches)
    own = [progress.environment(env_id) for env_id in progress.accepted()]
    return curriculum(matches, ratings, own, vendi=vendi(window), vendi_of=len(window))


def tell_ready(factory: Factory) -> bool:
    """Tell that enough plays wait for an update; whether they do."""
    waiting, wanted = untrained_plays(factory.progress.catalog), factory.settings.training.ready_plays
    if waiting >= wanted:
        cycle = factory.progress.cycle
        resource = {"prefect.resource.id": f"spade.cycle.{cycle.cycle_id}"}
        emit_event(READY, resource, payload={"plays": waiting, "wanted": wanted})
        factory.watcher.saw("ready", cycle.cycle_id, plays=waiting)
    return waiting >= wanted


def raise_alarms(factory: Factory, summary: CycleSummary) -> str:
    """Tell that the cycle is finished, and stop the slice when something is amiss; why, or an empty text."""
    settings = factory.settings.alarms
    why = alarm(summary, Thresholds(settings.min_vendi, settings.max_dropped, settings.max_unmeasured))
    resource = {
        "prefect.resource.id": f"spade.cycle.{summary.cycle_id}",
        "prefect.resource.name": f"cycle {summary.number}",
    }
    found = summary.curriculum
    payload = {"accepted": summary.accepted, "episodes": summary.episodes, "why": why}
    payload |= {"vendi": found.vendi, "vendi_of": found.vendi_of, "mode_share": found.mode_share}
    emit_event(FINISHED, resource, payload=payload)
    if why:
        emit_event(ALARM, resource, payload=payload)
        factory.budget.stop(f"alarm: {why}")
        factory.watcher.saw("alarm", summary.cycle_id, why=why)
    return why
