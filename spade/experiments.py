"""Experiments: a grid of profiles and seeds under one budget, and what their runs came to, side by side."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean

from spade.errors import Abort
from spade.identity import seed_for
from spade.scores import Interval, bootstrap
from spade.settings import FactorySettings


@dataclass(frozen=True, slots=True)
class Limit:
    """What each run of a grid may use, over all its sittings; None is without limit. `minutes` are of wall clock."""

    cycles: int | None = None
    episodes: int | None = None
    tokens: int | None = None
    minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """A grid. The first profile is what the others are compared with; `slots` and `plays` hold for all of them."""

    name: str
    profiles: tuple[str, ...]
    seeds: tuple[int, ...]
    limit: Limit
    flow: str = "generate"
    slots: int | None = None
    plays: int | None = None

    @property
    def runs(self) -> tuple[tuple[str, int], ...]:
        """Profiles and seeds, seed by seed, so that an early end leaves pairs."""
        return tuple((profile, seed) for seed in self.seeds for profile in self.profiles)


@dataclass(frozen=True, slots=True)
class Used:
    """One run's line in the ledger. `seconds` are wall clock of its sittings, `done`: nothing is left to do."""

    profile: str
    seed: int
    cycles: int
    episodes: int
    tokens: int
    seconds: float
    done: bool = False
    stopped: str = ""

    def left(self, limit: Limit) -> dict[str, float]:
        """What is left of each limit that is set."""
        used = {"cycles": self.cycles, "episodes": self.episodes, "tokens": self.tokens, "minutes": self.seconds / 60}
        limits = {f.name: getattr(limit, f.name) for f in fields(limit)}
        return {name: limits[name] - used[name] for name in used if limits[name] is not None}

    def spent(self, limit: Limit) -> bool:
        return any(left <= 0 for left in self.left(limit).values())


FLOWS = ("generate", "self-play")
ENOUGH_SEEDS = 5
"""Below it a bootstrap interval has not the coverage it names; of two or three values it is their range."""
_KEYS = {"name", "profiles", "seeds", "budget", "flow", "slots", "plays"}
_FORM = 'It has name, profiles = ["a", "b"], seeds = [0, 1] and a table [budget] (docs/evaluation.md).'


def read_experiment(text: str, where: str) -> Experiment:
    """An experiment from TOML. Raises `Abort` naming what is wrong with it."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Abort(f"{where} is not valid TOML: {error}.", "Mend that line.") from error
    unknown = sorted(values.keys() - _KEYS) + sorted(values.get("budget", {}).keys() - {f.name for f in fields(Limit)})
    if unknown:
        raise Abort(f"{where} has an unknown key {unknown[0]!r}.", _FORM)
    profiles, seeds = tuple(values.get("profiles", ())), tuple(values.get("seeds", ()))
    budget = Limit(**values.get("budget", {}))
    if not (values.get("name") and profiles and seeds):
        raise Abort(f"{where} lacks a name, profiles or seeds.", _FORM)
    if len(set(profiles)) < len(profiles) or len(set(seeds)) < len(seeds):
        raise Abort(f"{where} names a profile or a seed twice.", "Each run of a grid is made once.")
    if all(getattr(budget, f.name) is None for f in fields(Limit)):
        raise Abort(f"{where} sets no budget, so its runs would never end.", "Write [budget] with cycles or episodes.")
    if values.get("flow", "generate") not in FLOWS:
        raise Abort(f"{where} has no flow {values['flow']!r}.", f"Use one of {', '.join(FLOWS)}.")
    return Experiment(
        str(values["name"]), profiles, seeds, budget,
        values.get("flow", "generate"), values.get("slots"), values.get("plays"),
    )  # fmt: skip


def refuse_unequal(experiment: Experiment, settings: Mapping[str, FactorySettings]) -> None:
    """Raises `Abort` when the profiles would use unequal parts: cycles alone are equal only where a cycle is."""
    if experiment.limit.episodes is not None or experiment.limit.tokens is not None:
        return
    asked = {profile: _per_cycle(experiment, made) for profile, made in settings.items()}
    if len(set(asked.values())) > 1:
        told = ", ".join(f"{profile} {count}" for profile, count in asked.items())
        raise Abort(
            f"The profiles have unequal budgets: plays in a cycle are {told}.",
            "Set budget.episodes, or slots and plays for all of them.",
        )


def _per_cycle(experiment: Experiment, settings: FactorySettings) -> int:
    cycle = settings.cycle
    return (experiment.slots or cycle.slots) * (experiment.plays or cycle.plays) * (cycle.rounds + 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of one profile less that of the first, over the seeds on which both have it."""

    profile: str
    figure: str
    mean: float
    interval: Interval | None
    pairs: int


Figures = Mapping[tuple[str, int], Mapping[str, float | None]]
"""Figures of each run by profile and seed; None where nothing was measured."""


def differences(experiment: Experiment, found: Figures) -> list[Difference]:
    """Paired differences of every figure and profile against the first profile; without pairs there is none."""
    first, *others = experiment.profiles
    names = dict.fromkeys(name for values in found.values() for name in values)
    made = []
    for profile in others:
        for name in names:
            pairs = [_pair(found, first, profile, seed, name) for seed in experiment.seeds]
            values = [pair for pair in pairs if pair is not None]
            if values:
                drawn = seed_for(0, experiment.name, profile, name)
                interval = bootstrap(values, drawn) if len(values) > 1 else None
                made.append(Difference(profile, name, fmean(values), interval, len(values)))
    return made


def _pair(found: Figures, first: str, other: str, seed: int, name: str) -> float | None:
    one, two = (found.get((profile, seed), {}).get(name) for profile in (first, other))
    return None if one is None or two is None else two - one


def means(profile: str, found: Figures) -> dict[str, tuple[float, int]]:
    """Mean of each figure over a profile's runs, and over how many; what no run measured is left out."""
    rows: dict[str, list[float]] = {}
    for (name, _), values in found.items():
        if name == profile:
            for figure, value in values.items():
                if value is not None:
                    rows.setdefault(figure, []).append(value)
    return {figure: (fmean(values), len(values)) for figure, values in rows.items()}


def unequal(experiment: Experiment, ledger: Sequence[Used]) -> list[str]:
    """What a reader must know first: runs that are not done, profiles that used more than a tenth more, few seeds."""
    notes = [f"{u.profile}, seed {u.seed}, is not finished." for u in ledger if not u.done]
    for name in ("episodes", "tokens"):
        sums: dict[str, int] = dict.fromkeys(experiment.profiles, 0)
        for used in ledger:
            sums[used.profile] += getattr(used, name)
        least, most = min(sums.values()), max(sums.values())
        if least * 1.1 < most:
            notes.append(f"Unequal {name}: {', '.join(f'{profile} {count:,}' for profile, count in sums.items())}.")
    if len(experiment.seeds) < ENOUGH_SEEDS:
        notes.append(
            f"Brackets over {len(experiment.seeds)} seeds are hardly more than the range of what was seen, and no "
            f"evidence of a difference: take {ENOUGH_SEEDS} or more."
        )
    return notes
