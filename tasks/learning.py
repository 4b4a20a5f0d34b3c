"""Learn as Prefect tasks: one task an update. What was trained is stored before the new weights play."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect import task
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact
from prefect.cache_policies import NO_CACHE

from data.catalog import Catalog
from spade.attempts import Attempt
from spade.curation import Pool
from spade.environments import Environment
from spade.episodes import Episode
from spade.frontier import Measured, Trackers, frontier_rewards
from spade.learning import BatchRecord, Trained
from spade.messages import Role
from spade.scores import Score
from spade.settings import FactorySettings
from tasks.factory import Nobody, Watcher
from tasks.naming import named
from tasks.relatives import show_relatives
from tasks.showing import number
from training.batch_files import write_batch
from training.batches import Batch, Designed, agent_part, designer_part, make_batch
from training.samples import Limits

if TYPE_CHECKING:
    from training.checkpoints import Checkpoints, Saved
    from training.diagnostics import UpdateReport
    from training.launching import Launch
    from training.learner import Learner


@dataclass(eq=False)
class School:
    """The live parts of training: who learns, where checkpoints lie, and what is known of earlier cycles.

    `trained` names finished rounds as (cycle, round); `last` is the checkpoint that plays now. With `launch` updates
    are made by several processes, and the learner follows.
    """

    settings: FactorySettings
    catalog: Catalog
    learner: "Learner"
    checkpoints: "Checkpoints"
    last: "Saved | None" = None
    trained: set[tuple[str, int]] = field(default_factory=set)
    trackers: Trackers = field(default_factory=Trackers)
    watcher: Watcher = field(default_factory=Nobody)
    launch: "Launch | None" = None

    @property
    def weights(self) -> str:
        """The version that episodes are recorded with."""
        return self.last.record.checkpoint_id if self.last else f"{self.checkpoints.base}@start"

    @property
    def limits(self) -> Limits:
        return Limits(self.learner.policy.vocabulary, self.settings.training.max_tokens)

    def state(self, trained: Iterable[tuple[str, int]] | None = None) -> dict[str, Any]:
        """What a checkpoint keeps beside the weights; `trained` where an update is about to add to it."""
        rounds = self.trained if trained is None else trained
        return {"trained": sorted(map(list, rounds)), "counts": self.trackers.counts, "slow": self.trackers.slow}

    def recall(self, state: Mapping[str, Any]) -> None:
        self.trained = {(cycle, int(round_)) for cycle, round_ in state.get("trained", ())}
        counts = {kind: (float(wins), float(plays)) for kind, (wins, plays) in state.get("counts", {}).items()}
        self.trackers = Trackers(counts, dict(state.get("slow", {})))


@dataclass(frozen=True)
class Finished:
    """A cycle whose plays are all in: what its designs were worth."""

    attempts: Sequence[Attempt]
    environments: Mapping[str, Environment]
    scores: Mapping[str, Score]


def designed(school: School, cycle_id: str, finished: Finished) -> list[Designed]:
    """The cycle's accepted designs with their rewards, under the settings' frontier; moves the trackers."""
    attempts = [a for a in finished.attempts if a.accepted and a.env_id in finished.scores]
    measured = []
    for attempt in attempts:
        score, environment = finished.scores[attempt.env_id], finished.environments[attempt.env_id]
        plain = score.plain
        kind = f"{environment.skill}/{environment.mechanic}"
        measured.append(Measured(kind, plain.wins, plain.measured, plain.mean_return or 0.0, score.designer_reward))
    rewards, school.trackers = frontier_rewards(measured, school.settings.training.frontier, school.trackers)
    return [
        Designed(attempt, finished.environments[attempt.env_id].skill, cycle_id, reward)
        for attempt, reward in zip(attempts, rewards, strict=True)
    ]


def batch_for(
    school: School, cycle_id: str, round_: int, episodes: Iterable[Episode], finished: Finished | None
) -> Batch:
    """One round's plays, and the cycle's designs when its plays are all in. Raises `Abort` for unusable records."""
    own = [e for e in episodes if e.asked.cycle_id == cycle_id and e.asked.round == round_]
    agent = agent_part(own, school.settings.agent.sampling.record(), school.limits, school.weights)
    designer = None
    if finished is not None:
        designs = designed(school, cycle_id, finished)
        rounds, plays = school.settings.cycle.rounds, agent[1].records
        designer = designer_part(designs, school.limits, agent_samples=plays, rounds=rounds)
    return make_batch(agent, designer, cycles=[cycle_id], round=round_)


async def warm_start(school: School) -> "Saved | None":
    """Imitate the curated positives so far where the settings ask for it."""
    return await named(imitate_positives, "warm start")(school)


@task(cache_policy=NO_CACHE)
async def imitate_positives(school: School) -> "Saved | None":
    """Imitate the curated positives so far, once, before the first update; None where there is nothing to do."""
    from training.imitation import SIZE, imitate, positives

    training = school.settings.training
    if school.last is not None or not training.warm_start_epochs:
        return None
    kept = {d.episode_id for d in school.catalog.decisions(pool=Pool.POSITIVE.value, kept=True)}
    episodes = [e for e in school.catalog.episodes(episode_id=sorted(kept)) if e.turns]
    samples, unusable = positives(episodes, school.settings.agent.sampling.record(), school.limits)
    if not samples:
        return None
    rate, epochs = training.warm_start_rate, training.warm_start_epochs
    losses = await asyncio.to_thread(imitate, school.learner, "agent", samples, rate=rate, size=SIZE, epochs=epochs)
    school.last = await asyncio.to_thread(
        school.checkpoints.save, school.learner, batch_id="", parent="", state=school.state()
    )
    school.catalog.append("checkpoints", [school.last.record])
    said = (
        f"Warm start on {len(samples)} positives ({unusable} without tokens): loss {losses[0]:.3f} to {losses[-1]:.3f}"
    )
    school.watcher.saw("opening", "warm start", what=said)
    return school.last


async def learn(school: School, batch: Batch) -> "Saved":
    """Train on a batch, save, and record it. A round without any gradient is recorded and moves nothing."""
    run = named(update_policy, f"update {school.learner.updates + 1} {batch.batch_id}")
    return await run(school, batch)


@task(cache_policy=NO_CACHE)
async def update_policy(school: School, batch: Batch) -> "Saved":
    """Batch file, update, checkpoint, catalog rows, page: in this order, so that a kill at any point loses nothing."""
    folder = await asyncio.to_thread(write_batch, batch, school.settings.home / "batches")
    trained = school.trained | {(cycle, batch.round) for cycle in batch.cycles}
    report, saved = await asyncio.to_thread(_updated, school, batch, folder, school.state(trained))
    school.last, school.trained = saved, trained
    keep_records(school, batch)
    if report is not None:
        _note(school, report)
        await show_checkpoint(school, batch, report)
        await show_relatives(school.catalog, sorted(batch.env_ids))
    return saved


def _updated(
    school: School, batch: Batch, folder: Path, state: Mapping[str, Any]
) -> "tuple[UpdateReport | None, Saved]":
    """The update and its checkpoint, in this process or, where `training.processes` says so, in several others."""
    from training.checkpoints import restore

    parent = school.last.record.checkpoint_id if school.last else ""
    if school.launch is None or not batch.samples:
        report = school.learner.update(batch) if batch.samples else None
        return report, school.checkpoints.save(school.learner, batch_id=batch.batch_id, parent=parent, state=state)
    report = school.launch.update(folder, parent=parent, state=state)
    saved = school.checkpoints.latest()
    assert saved is not None
    restore(school.learner, saved)
    return report, saved


def keep_records(school: School, batch: Batch) -> None:
    """The catalog's rows of a batch and of the checkpoint it led to; storing them twice leaves one."""
    skipped = sum(count for report in batch.reports.values() for _, count in report.skipped)
    agent = batch.reports.get(Role.AGENT)
    record = BatchRecord(
        batch_id=batch.batch_id,
        cycle_id=batch.cycles[0] if batch.cycles else "",
        round=batch.round,
        samples=len(batch.samples),
        tokens=sum(s.tokens for s in batch.samples),
        flat_groups=agent.flat_groups if agent else 0,
        skipped=skipped,
        weights=", ".join(sorted({s.weights for s in batch.samples})),
    )
    rows = {s.subject_id: Trained(batch.batch_id, s.subject_id, s.role, s.env_id, s.advantage) for s in batch.samples}
    school.catalog.append("train_batches", [record])
    school.catalog.append("train_rows", rows.values())
    if school.last is not None:
        school.catalog.append("checkpoints", [school.last.record])


def _note(school: School, report: "UpdateReport") -> None:
    folder = school.settings.home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "updates.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(report.json()) + "\n")
    agent = report.roles.get("agent")
    facts = {"clipped": agent.clipped, "kl": agent.kl, "entropy": agent.entropy} if agent else {}
    school.watcher.saw("updated", report.batch_id, number=report.update, seconds=report.seconds, **facts)


async def show_checkpoint(school: School, batch: Batch, report: "UpdateReport") -> None:
    """The checkpoint's page: what it learned from, down to the environments, and the update's figures."""
    assert school.last is not None
    await acreate_markdown_artifact(
        key=school.last.record.checkpoint_id,
        markdown=checkpoint_markdown(school, batch, report),
        description=f"update {report.update} from {batch.batch_id}",
    )
    await acreate_table_artifact(
        key=f"update-{report.update:06d}",
        table=[{"role": role, **asdict(figures)} for role, figures in report.roles.items()],
        description=f"Update {report.update}: diagnostics by role",
    )


def checkpoint_markdown(school: School, batch: Batch, report: "UpdateReport") -> str:
    """Environments are named by the key of their own page in the UI, and by what `spade lineage` takes."""
    assert school.last is not None
    record = school.last.record
    plays: dict[str, set[str]] = {}
    for sample in batch.of(Role.AGENT):
        plays.setdefault(sample.env_id, set()).add(sample.subject_id)
    titles = {e.env_id: e for e in school.catalog.environments(env_id=sorted(batch.env_ids))}
    rows = [
        f"| [{env}](/artifacts/key/{env}) | {_mechanic(titles.get(env))} | {len(plays.get(env, ()))} |"
        for env in batch.env_ids
    ]
    left_out = [f"{role}: {n} {why}" for role, r in batch.reports.items() for why, n in r.skipped]
    flat = batch.reports[Role.AGENT].flat_groups if Role.AGENT in batch.reports else 0
    return "\n".join(
        [
            f"# Checkpoint `{record.checkpoint_id}`",
            "",
            f"Update {record.update} of `{record.base}`, from batch `{batch.batch_id}` of cycle "
            f"{', '.join(f'`{c}`' for c in batch.cycles)}, round {batch.round}; "
            f"parent `{record.parent or 'the base'}`.",
            f"Weights `{record.weights}` in `{school.last.folder}`. `spade lineage {record.checkpoint_id}` leads back "
            "to documents.",
            "",
            *(_figures(role, figures) for role, figures in asdict(report)["roles"].items()),
            f"- left out: {flat} groups without a difference; {'; '.join(left_out) or 'no faulty record'}",
            "",
            "## Environments it learned from",
            "",
            "| environment | mechanic | plays |\n|---|---|---|",
            *rows,
        ]
    )


def _figures(role: str, figures: Mapping[str, Any]) -> str:
    shown = ("loss", "ratio", "clipped", "ess", "kl", "entropy", "grad_norm", "truncated")
    named = ", ".join(f"{name} {number(figures[name])}" for name in shown)
    return f"- {role}: {figures['samples']} samples, {figures['tokens']} tokens, {figures['steps']} steps; {named}"


def _mechanic(environment: Environment | None) -> str:
    return f"{environment.skill.words} · {environment.mechanic}" if environment else ""
