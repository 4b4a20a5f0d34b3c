"""What the sandbox benchmark tells: its figures beside a peer's, and beside what they should reach."""

from typing import Any

from benchmarks.reporting import Row
from sandbox.tiers import TIERS

Figures = dict[str, float]
TARGETS = {
    "cold_start_ms": ("ms", 3.5),
    "warm_start_ms": ("ms", 1.0),
    "cold_kill_ms": ("ms", 5.0),
    "one_core_steps_per_second_1": ("steps/s", 40_000),
    "steps_per_second_8": ("steps/s", 40_000),
    "steps_per_second_32": ("steps/s", 40_000),
    "batched_steps_per_second_32": ("steps/s", 500_000),
    "memory_mb_32": ("MB", 4.0),
    "seconds_until_150_are_up": ("s", None),
    "steps_1_over_openenv": ("x", 5.0),
}
"""Unit of a figure, and what it should reach."""


def ratios(result: dict[str, Any]) -> Figures:
    """How many times faster than the others; the best tier counts."""
    ours = next(result[tier] for tier in TIERS if isinstance(result[tier], dict))
    found: Figures = {}
    if isinstance(result["openenv"], dict):
        for count in (1, 8, 32):
            theirs = result["openenv"][f"steps_per_second_{count}"]
            found[f"steps_{count}_over_openenv"] = ours[f"steps_per_second_{count}"] / theirs
        found["start_over_openenv"] = result["openenv"]["start_ms"] / ours["cold_start_ms"]
    if isinstance(result["fresh_process"], dict):
        found["start_over_fresh_process"] = result["fresh_process"]["cold_start_ms"] / ours["cold_start_ms"]
        found["steps_1_over_fresh_process"] = ours["steps_per_second_1"] / result["fresh_process"]["steps_per_second_1"]
    return found


def rows_of(result: dict[str, Any]) -> list[Row]:
    """The best tier's figures beside what they should reach, those that were measured."""
    figures = next(result[tier] for tier in TIERS if isinstance(result[tier], dict)) | result["ratios"]
    measured = [name for name in TARGETS if name in figures]
    return [Row(name, round(figures[name], 3), *TARGETS[name]) for name in measured]


def table(result: dict[str, Any]) -> str:
    lines = [f"{result['date']}, {result['machine']}, load {result['load']:.1f}", ""]
    for name in (*TIERS, "fresh_process", "openenv", "ratios"):
        figures = result[name]
        if isinstance(figures, str):
            lines += [f"{name}: {figures}", ""]
            continue
        lines += [name, *(f"  {what:34s} {value:>14,.2f}" for what, value in figures.items()), ""]
    lines += [row.line() for row in rows_of(result)]
    return "\n".join(lines)
