"""Train from what is stored: every finished round that no update has seen, oldest first."""

from collections import defaultdict
from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from data.catalog import Catalog
from data.progress import CycleProgress
from flows.configuring import flags_of, load_settings
from flows.observing import observed
from flows.schooling import need_torch, only_trainer, open_school
from spade.episodes import Arm
from spade.slots import Cycle
from tasks.advancing import Advance
from tasks.learning import Finished, School, batch_for, learn, warm_start


def _run_name() -> str:
    return f"train {flow_run.parameters.get('profile')}"


@flow(name="train", flow_run_name=_run_name)
async def train(
    profile: str = "starter",
    updates: Annotated[int | None, Field(ge=1)] = None,
    base: str | None = None,
    seed: int | None = None,
    home: str | None = None,
) -> list[dict[str, Any]]:
    """Update the policy from stored rounds and cycles. A run that was killed goes on from its last checkpoint.

    Args:
        profile: Settings profile, such as starter.
        updates: At most so many updates; all pending rounds if empty.
        base: Weights to start from: path:FOLDER or package:NAME.
        seed: Seed of every random draw; the profile's when empty.
        home: Folder of run artifacts; var when empty.
    """
    need_torch()
    settings = load_settings(profile, flags_of(seed=seed, home=home, training__base=base))
    async with observed(settings) as looking:
        with only_trainer(settings.home):
            school = open_school(settings, Catalog(settings.home, settings.store), looking.watcher)
            await warm_start(school)
            return await _train_pending(school, updates)


async def _train_pending(school: School, updates: int | None) -> list[dict[str, Any]]:
    pending = pending_rounds(school)
    school.watcher.saw("pending", "rounds", count=len(pending), limit=updates)
    made: list[dict[str, Any]] = []
    advance = Advance("Updates of this run", "training-progress")
    for cycle, round_ in pending[:updates]:
        await advance.at(len(made), len(pending[:updates]))
        saved = await train_round(school, cycle, round_)
        made.append(
            {"checkpoint_id": saved.record.checkpoint_id, "update": saved.record.update, "cycle": cycle.cycle_id}
        )
    await advance.end()
    return made


def pending_rounds(school: School) -> list[tuple[Cycle, int]]:
    """Rounds of scored cycles that no update has seen, in the order they were played."""
    rows = school.catalog.query(
        """select c.settings_hash, c.seed, c.number, e.cycle_id, e.round
        from episodes as e join cycles as c using (cycle_id)
        where e.arm = 'plain' and e.cycle_id in (select cycle_id from summaries)
        group by all order by c.number, e.cycle_id, e.round"""
    )
    found = [(Cycle(r["settings_hash"], r["seed"], r["number"]), int(r["round"])) for r in rows]
    return [(cycle, round_) for cycle, round_ in found if (cycle.cycle_id, round_) not in school.trained]


async def train_round(school: School, cycle: Cycle, round_: int) -> Any:
    """One update from one stored round; the designs of its cycle join the last one."""
    episodes = school.catalog.episodes(cycle_id=cycle.cycle_id, arm=Arm.PLAIN.value)
    last = max(e.asked.round for e in episodes)
    finished = finished_cycle(school, cycle) if round_ == last else None
    return await learn(school, batch_for(school, cycle.cycle_id, round_, episodes, finished))


def finished_cycle(school: School, cycle: Cycle) -> Finished:
    """What a stored cycle's designs came to."""
    slots = school.catalog.slots(cycle_id=cycle.cycle_id)
    progress = CycleProgress.load(school.catalog, cycle, slots)
    return finished_of(progress)


def finished_of(progress: CycleProgress) -> Finished:
    """The same from a cycle at hand."""
    attempts = [a for slot in progress.slots for a in progress.attempts(slot.slot_id)]
    scores = defaultdict(None, {s.env_id: s for s in progress.scores()})
    return Finished(attempts, {e.env_id: e for e in progress.environments()}, dict(scores))
