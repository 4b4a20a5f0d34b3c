"""A batch of the two-role update, from stored records only: which plays and designs are learned from, and how much.

Agent: a group is the plain plays of one environment in one round. Designer: a group is the accepted programs of one
skill in a finished cycle, trained when all plays of the cycle are in. Hinted plays are measured, never trained on.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spade.attempts import Attempt
from spade.episodes import Arm, Episode
from spade.errors import Abort
from spade.messages import Role, Sampling
from training.advantages import agent_advantages, designer_advantages, designer_scale
from training.samples import Fault, Limits, Origin, Sample, samples_of

MOST_FAULTY = 0.5
"""A batch most of whose records are faulty is refused: the records do not fit the model, or the engine is set wrong."""


@dataclass(frozen=True, slots=True)
class RoleReport:
    """What became of one role's records. `flat_groups`: groups whose members were all worth the same: no gradient."""

    records: int = 0
    groups: int = 0
    flat_groups: int = 0
    samples: int = 0
    tokens: int = 0
    advantage_spread: float = 0.0
    skipped: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one update trains on. `batch_id` depends on the samples alone; `cycles` and `round` say where from."""

    samples: tuple[Sample, ...]
    reports: Mapping[Role, RoleReport] = field(default_factory=dict)
    cycles: tuple[str, ...] = ()
    round: int = 0

    @property
    def batch_id(self) -> str:
        return f"batch-{_digest(self.samples)[:16]}"

    def of(self, role: Role) -> tuple[Sample, ...]:
        return tuple(s for s in self.samples if s.role is role)

    @property
    def env_ids(self) -> tuple[str, ...]:
        return tuple(sorted({s.env_id for s in self.samples if s.env_id}))


@dataclass(frozen=True, slots=True)
class Designed:
    """An accepted attempt with what its environment was worth; `reward` None when it could not be measured."""

    attempt: Attempt
    skill: str
    cycle_id: str
    reward: float | None


def agent_part(
    episodes: Iterable[Episode], sampling: Sampling, limits: Limits, weights: str = ""
) -> tuple[list[Sample], RoleReport]:
    """The agent's samples of one or more rounds. Plays by others than `weights`, which are to be trained, are late;
    none are when it is empty."""
    groups: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.asked.arm is Arm.PLAIN and episode.return_ is not None:
            asked = episode.asked
            groups[f"{asked.cycle_id}/{asked.env_id}/{asked.round}"].append(episode)
    samples: list[Sample] = []
    skipped: Counter[str] = Counter()
    flat = 0
    for name, members in groups.items():
        advantages = agent_advantages([e.return_ or 0.0 for e in members])
        if advantages is None:
            flat += 1
            continue
        for episode, advantage in zip(members, advantages, strict=True):
            late = bool(weights) and episode.weights != weights
            origin = Origin(Role.AGENT, name, episode.episode_id, episode.weights, episode.asked.env_id, late)
            made = samples_of(origin, [(t.tokens, t.guided) for t in episode.turns], sampling, limits)
            _take(made, advantage, samples, skipped)
    records = sum(len(members) for members in groups.values())
    return samples, _report(records, len(groups), flat, samples, skipped)


def designer_part(
    designed: Sequence[Designed], limits: Limits, *, agent_samples: int, rounds: int, late: bool = True
) -> tuple[list[Sample], RoleReport]:
    """The designer's samples of finished cycles. `agent_samples` is how many the agent has in one round."""
    groups: dict[str, list[Designed]] = defaultdict(list)
    for each in designed:
        if each.reward is not None:
            groups[f"{each.cycle_id}/{each.skill}"].append(each)
    scale = designer_scale(agent_samples, sum(map(len, groups.values())), rounds)
    samples: list[Sample] = []
    skipped: Counter[str] = Counter()
    flat = 0
    for name, members in groups.items():
        advantages = designer_advantages([d.reward or 0.0 for d in members], scale)
        if not any(advantages):
            flat += 1
            continue
        for each, advantage in zip(members, advantages, strict=True):
            attempt = each.attempt
            weights = attempt.completion.weights
            origin = Origin(Role.DESIGNER, name, attempt.attempt_id, weights, attempt.env_id, late)
            turns = [(attempt.completion.tokens, attempt.completion.guided)]
            _take(samples_of(origin, turns, attempt.sampling, limits), advantage, samples, skipped)
    return samples, _report(len(designed), len(groups), flat, samples, skipped)


def make_batch(
    agent: tuple[list[Sample], RoleReport],
    designer: tuple[list[Sample], RoleReport] | None = None,
    *,
    cycles: Sequence[str] = (),
    round: int = 0,
) -> Batch:
    """Both roles' parts as one batch. Raises `Abort` naming the fault when most records of a role are faulty."""
    parts = {Role.AGENT: agent} | ({Role.DESIGNER: designer} if designer else {})
    for role, (_, report) in parts.items():
        _refuse_faulty(role, report)
    samples = tuple(sample for made, _ in parts.values() for sample in made)
    return Batch(samples, {role: report for role, (_, report) in parts.items()}, tuple(cycles), round)


def _take(made: list[Sample] | Fault, advantage: float, samples: list[Sample], skipped: Counter[str]) -> None:
    if isinstance(made, Fault):
        skipped[made.value] += 1
    else:
        samples += [replace(s, advantage=advantage) for s in made if s.at]


def _report(records: int, groups: int, flat: int, samples: list[Sample], skipped: Counter[str]) -> RoleReport:
    spread = float(np.std([s.advantage for s in samples])) if samples else 0.0
    tokens = sum(s.tokens for s in samples)
    return RoleReport(records, groups, flat, len(samples), tokens, spread, tuple(sorted(skipped.items())))


_REMEDIES = {
    Fault.MISSING_TOKENS: "Play with an engine that returns token ids and log-probabilities: vLLM or the torch engine.",
    Fault.UNKNOWN_CHOICES: "Play with the torch engine, or switch the guide off (agent.guided = false).",
    Fault.CUT_DISTRIBUTION: "Play with top_p = 1 and top_k = 0.",
    Fault.VOCABULARY: "Train the model that played, with its own tokenizer.",
    Fault.TOO_LONG: "Raise training.max_tokens.",
}


def _refuse_faulty(role: Role, report: RoleReport) -> None:
    faulty = sum(count for _, count in report.skipped)
    if faulty and faulty > MOST_FAULTY * (faulty + report.samples):
        name, count = max(report.skipped, key=lambda pair: pair[1])
        remedy = _REMEDIES.get(Fault(name), "Look at the engine that stored these records.")
        raise Abort(f"{faulty} {role} records cannot be trained on, {count} of them for: {name}.", remedy)


def _digest(samples: Sequence[Sample]) -> str:
    """SHA-256 over what is trained: tokens, places, log-probabilities, choices, advantages, roles and subjects."""
    sha = hashlib.sha256()
    for s in samples:
        head = (s.role, s.group, s.subject_id, s.part, s.weights, s.env_id, s.late, s.temperature, s.advantage)
        sha.update(repr(tuple(map(str, head))).encode())
        sha.update(np.asarray(s.ids, np.int64).tobytes())
        sha.update(np.asarray(s.at, np.int64).tobytes())
        sha.update(np.asarray(s.logprobs, np.float64).tobytes())
        for choice in s.allowed:
            sha.update(np.asarray(choice, np.int64).tobytes() + b"|")
    return sha.hexdigest()
