"""The gates in order, cheapest first: stop at the first failure, or report on all of them."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spade.errors import SpadeError
from spade.gates import runtime, semantic, stages, tool_use
from spade.gates.casting import judging_seeds
from spade.gates.facts import Facts
from spade.gates.form import FORM_GATES, form_contract, form_parse
from spade.gates.probe import Seat, close_all
from spade.gates.source import read_source
from spade.gates.stages import Table
from spade.ports import Limits, Sandbox
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Status, Verdict

RULES_VERSION = 3
"""Goes up when the gates change their mind about old programs; part of every cache key."""

Gate = Callable[[Facts, GateSettings], Verdict]
Stage = Callable[[Facts, Table], Awaitable[Facts]]

START: tuple[Gate, ...] = (runtime.startup,)
INSTANCES: tuple[Gate, ...] = (
    runtime.startup,
    runtime.observation_schema,
    runtime.reward_well_formed,
    runtime.state_contract,
    runtime.robust,
    runtime.seed_control,
    runtime.episode_determinism,
    runtime.episode_isolation,
    runtime.resource_bounds,
    runtime.host_containment,
    runtime.network_policy,
    semantic.oracle_max,
)
PLAYERS: tuple[Gate, ...] = (
    runtime.reward_well_formed,
    runtime.state_contract,
    runtime.robust,
    runtime.resource_bounds,
    semantic.floor_gap,
    semantic.canary_floor,
    semantic.no_solution_leakage,
    semantic.interactive,
    semantic.replayability,
    semantic.verifier_determinism,
)
"""Some gates of the stage before judge the new plays as well."""

STAGES: Mapping[Setting, tuple[tuple[Stage, tuple[Gate, ...]], ...]] = {
    Setting.GAMES: (
        (stages.start, START),
        (stages.instances, INSTANCES),
        (stages.players, PLAYERS),
    ),
    Setting.TOOLS: (
        (stages.start, (*START, tool_use.schema_matches, tool_use.criteria_false_at_reset)),
        (
            stages.instances,
            (tool_use.criteria_false_at_reset, *INSTANCES[:-1], tool_use.criteria_reachable, INSTANCES[-1]),
        ),
        (stages.players, (*PLAYERS, tool_use.criteria_reachable, tool_use.distractors_do_not_pay)),
    ),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one program in gate order, and what later steps need without running it again.

    `solutions` and `observations` map the seeds looked at to the solution's actions and the first observation.
    """

    verdicts: tuple[Verdict, ...]
    solutions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    observations: Mapping[int, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return bool(self.verdicts) and all(v.passed for v in self.verdicts)


async def judge(
    code: str, setting: Setting, sandbox: Sandbox, limits: Limits, settings: GateSettings, *, full: bool = False
) -> tuple[Verdict, ...]:
    """The verdicts in gate order, up to the first that does not pass; all of them when `full`.

    Never raises for what the program did. Raises `Retry` when the sandbox itself is lost.
    """
    return (await examine(code, setting, sandbox, limits, settings, full=full)).verdicts


async def examine(
    code: str, setting: Setting, sandbox: Sandbox, limits: Limits, settings: GateSettings, *, full: bool = False
) -> Judgement:
    """As `judge`, with the solutions and first observations of the instances looked at."""
    source = read_source(code)
    facts = Facts(source, setting, judging_seeds(code, settings.seeds), isolation=sandbox.report())
    sheet = _Sheet(settings)
    for form_gate in FORM_GATES:
        sheet.note(form_gate.__name__, lambda gate=form_gate: gate(source, setting, settings))  # type: ignore[misc]
        if sheet.failing and (not full or form_gate in (form_parse, form_contract)):
            return Judgement(sheet.verdicts)
    seats = [Seat(sandbox, code, limits, number) for number in (0, 1)]
    table = Table(seats[0], seats[1], settings)
    try:
        for stage, gates in STAGES[setting]:
            facts = await stage(facts, table)
            for gate in gates:
                sheet.note(gate.__name__, lambda gate=gate, facts=facts: gate(facts, settings))  # type: ignore[misc]
            if sheet.failing and not full:
                sheet.cut()
                break
    finally:
        await close_all(seats)
    return _judgement(sheet, facts)


@dataclass(slots=True)
class _Sheet:
    """The verdicts so far, one a gate; a gate judged again keeps its place and its worse verdict."""

    settings: GateSettings
    by_gate: dict[str, Verdict] = field(default_factory=dict)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(self.by_gate.values())

    @property
    def failing(self) -> bool:
        return any(not v.passed for v in self.by_gate.values())

    def cut(self) -> None:
        """Keep the verdicts up to the one that stops the program: the first failure, else the first error.

        A gate that could not be judged is most often the consequence of a later one that failed.
        """
        failures = [name for name, v in self.by_gate.items() if v.status is Status.FAIL]
        last = failures[0] if failures else next(name for name, v in self.by_gate.items() if not v.passed)
        names = list(self.by_gate)
        kept = [n for n in names[: names.index(last)] if self.by_gate[n].passed]
        self.by_gate = {name: self.by_gate[name] for name in (*kept, last)}

    def note(self, name: str, gate: Callable[[], Verdict]) -> None:
        """Fail closed: a gate that breaks has not passed."""
        started = time.perf_counter()
        try:
            verdict = gate()
        except SpadeError:
            raise
        except Exception as error:  # noqa: BLE001
            verdict = Verdict(name, Status.ERROR, f"This gate could not be judged ({type(error).__name__}: {error}).")
        verdict = replace(verdict, seconds=time.perf_counter() - started)
        before = self.by_gate.get(verdict.gate)
        if before is None or before.passed:
            self.by_gate[verdict.gate] = verdict


def _judgement(sheet: _Sheet, facts: Facts) -> Judgement:
    observations = {seed: reply.observation for seed, reply in facts.greetings.items() if reply.ok}
    return Judgement(sheet.verdicts, facts.solved, observations)


def gate_names(setting: Setting = Setting.GAMES) -> Sequence[str]:
    """Every gate of levels 0 to 3, in order."""
    form = [gate.__name__.replace("_", ".", 1) for gate in FORM_GATES]
    levels = {"runtime": "runtime", "semantic": "semantic", "tool_use": "semantic"}
    run = [gate for _, gates in STAGES[setting] for gate in gates]
    return list(dict.fromkeys([*form, *(f"{levels[g.__module__.rpartition('.')[2]]}.{g.__name__}" for g in run)]))
