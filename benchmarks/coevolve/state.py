"""What a run keeps beside its weights, and the figures it notes on the way."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from benchmarks.coevolve.designing import Design
from benchmarks.coevolve.diversity import choice_entropy, vendi_share
from benchmarks.coevolve.playing import win_rate
from benchmarks.coevolve.world import Cell
from spade.episodes import Episode

BAND = (0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Plan:
    """How long a run is, and how it is evaluated. `budget` counts all plays of the model, hinted ones too."""

    budget: int = 40000
    curve_every: int = 32
    curve_items: int = 504
    final_items: int = 2016


@dataclass
class State:
    """Everything of a run that is not weights; JSON values."""

    cycle: int = 0
    plain: int = 0
    hinted: int = 0
    gradient_tokens: int = 0
    cpu_seconds: float = 0.0
    refused: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)
    windows: list[dict[str, Any]] = field(default_factory=list)
    known: dict[str, list[Any]] = field(default_factory=dict)
    """Latest win rate, cycle, plan and skill, by the cell's text."""
    counts: dict[str, list[float]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    oracle: dict[str, list[float]] = field(default_factory=dict)
    designs: list[str] = field(default_factory=list)
    update: dict[str, Any] = field(default_factory=dict)


def window_of(
    chosen: Sequence[Design],
    rates: Sequence[float],
    rewards: Sequence[float | None],
    regrets: Sequence[float],
    state: State,
) -> dict[str, Any]:
    """Figures of one cycle's environments: shares of win rates, rewards, and how varied the latest designs are."""
    new = [rate for d, rate in zip(chosen, rates, strict=True) if not d.replay]
    paid = [r for r in rewards if r is not None]
    low, high = BAND
    return {
        "band": fmean(low <= r <= high for r in new) if new else 0.0,
        "band_all": fmean(low <= r <= high for r in rates),
        "easy": fmean(r > high for r in rates),
        "hard": fmean(r < low for r in rates),
        "win": fmean(rates),
        "reward": fmean(paid) if paid else 0.0,
        "regret": fmean(regrets) if regrets else None,
        "entropy": choice_entropy(state.designs),
        "vendi": vendi_share(state.designs) if state.cycle % 10 == 9 else None,
    }


def point_of(wanted: Sequence[tuple[Cell, int]], episodes: Sequence[Episode], plays: int) -> dict[str, Any]:
    """One point of the curve: accuracy and mean return on held-out cells after so many plays."""
    by_mechanic: dict[str, list[Episode]] = defaultdict(list)
    for (cell, _), episode in zip(wanted, episodes, strict=True):
        by_mechanic[cell.mechanic].append(episode)
    return {
        "episodes": plays,
        "items": len(wanted),
        "accuracy": win_rate(episodes),
        "return": fmean(e.return_ or 0.0 for e in episodes),
        "mechanics": {name: win_rate(group) for name, group in by_mechanic.items()},
    }


def progress(state: State) -> str:
    """The latest point as a line."""
    point, recent = state.curve[-1], state.windows[-10:]
    band = fmean(w["band"] for w in recent) if recent else 0.0
    entropy = state.update.get("designer", {}).get("entropy")
    mechanics = " ".join(f"{name[:5]} {share:.2f}" for name, share in point["mechanics"].items())
    return (
        f"plays {point['episodes']} accuracy {point['accuracy']:.3f} return {point['return']:.3f} band {band:.2f} "
        f"cpu {state.cpu_seconds:.0f} entropy {entropy and round(entropy, 2)} {mechanics}"
    )
