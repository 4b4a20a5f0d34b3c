"""Tables out of results: the ledger, the curves, the paired differences, and what must hold."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

Result = Mapping[str, Any]
BASE = "fixed"
GAIN = 0.08
BAND_RATIO = 1.5
ADVANTAGE = 0.03
POSITIVE = 4
VENDI_FLOOR = 0.02
"""Vendi / n of 200 designs: one repeated design has 0.005, one mechanic with even knobs about 0.015."""
ENTROPY_FLOOR = 1.0
"""Nats over mechanic and size, of about 3 when even: below it the designs sit in fewer than three of twenty kinds."""


def curve_mean(result: Result) -> float:
    """Accuracy averaged over plays, by trapezoids between evaluations."""
    points = [(p["episodes"], p["accuracy"]) for p in result["curve"]]
    areas = [(b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points)]
    return sum(areas) / (points[-1][0] - points[0][0])


def third(result: Result, key: str, part: int) -> float:
    """Mean of a window figure over the first (0) or last (2) third of the run."""
    windows = result["windows"]
    cut = len(windows) // 3
    chosen = windows[:cut] if part == 0 else windows[-cut:]
    values = [w[key] for w in chosen if w[key] is not None]
    return fmean(values) if values else math.nan


def differences(results: Sequence[Result], arm: str, of: Any) -> dict[int, float]:
    """Arm less the fixed pool, for each seed that has both."""
    by = {(r["arm"], r["seed"]): of(r) for r in results if r["done"]}
    return {
        seed: value - by[BASE, seed] for (name, seed), value in sorted(by.items()) if name == arm and (BASE, seed) in by
    }


def gain(result: Result) -> float:
    return float(result["curve"][-1]["accuracy"] - result["curve"][0]["accuracy"])


def end(result: Result) -> float:
    return float(result["curve"][-1]["accuracy"])


def print_report(results: Sequence[Result]) -> None:
    _print_ledger(results)
    _print_curves(results)
    _print_differences(results)
    print("| what must hold | value | aim | holds |\n|---|---|---|---|")
    for row in rows_of(results):
        shown = f"{row['value']:.3f}" if isinstance(row["value"], float) else row["value"]
        shown = "-" if shown is None else shown
        holds = "not measured" if row["ok"] is None else "yes" if row["ok"] else "no"
        print(f"| {row['name']} | {shown} | {row['target']} | {holds} |")


def _print_ledger(results: Sequence[Result]) -> None:
    columns = ("arm", "seed", "plays plain + hinted", "gradient tokens", "CPU s", "refused", "start", "end")
    columns += ("return start", "return end")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for r in results:
        first, last = r["curve"][0], r["curve"][-1]
        state = "" if r["done"] else " (unfinished)"
        print(
            f"| {r['arm']}{state} | {r['seed']} | {r['plain']} + {r['hinted']} | {r['gradient_tokens']:,} "
            f"| {r['cpu_seconds']:.0f} | {r['refused']} | {100 * first['accuracy']:.1f} | {100 * last['accuracy']:.1f} "
            f"| {first['return']:.3f} | {last['return']:.3f} |"
        )
    print()


def _print_curves(results: Sequence[Result]) -> None:
    print("Accuracy (%) on held-out cells by plays so far:\n")
    for r in results:
        points = ", ".join(f"{p['episodes'] // 1000}k {100 * p['accuracy']:.1f}" for p in r["curve"])
        print(f"- {r['arm']} {r['seed']}: {points}")
    print()


def _print_differences(results: Sequence[Result]) -> None:
    print(f"| arm less {BASE}, points | end, by seed | mean ± SE | curve, by seed | mean ± SE |\n|---|---|---|---|---|")
    for arm in sorted({r["arm"] for r in results} - {BASE}):
        at_end, over = differences(results, arm, end), differences(results, arm, curve_mean)
        if at_end:
            print(f"| {arm} | {_listed(at_end)} | {_mean(at_end)} | {_listed(over)} | {_mean(over)} |")
    print()


def _listed(values: Mapping[int, float]) -> str:
    return ", ".join(f"{seed}: {100 * value:+.1f}" for seed, value in values.items())


def _mean(values: Mapping[int, float]) -> str:
    listed = list(values.values())
    error = stdev(listed) / math.sqrt(len(listed)) if len(listed) > 1 else math.nan
    return f"{100 * fmean(listed):+.1f} ± {100 * error:.1f}"


def rows_of(results: Sequence[Result]) -> list[dict[str, Any]]:
    """What the benchmark requires, and what it aims at, as rows."""
    done = [r for r in results if r["done"]]
    arms: dict[str, list[Result]] = defaultdict(list)
    for r in done:
        arms[r["arm"]].append(r)
    others = [arm for arm in arms if arm != BASE] if BASE in arms else []
    rows = [_band(arm, arms[arm], arms[BASE]) for arm in others if arm != "frozen"]
    rows += [row for arm, runs in arms.items() for row in _floors(arm, runs)]
    return rows + [row for arm in others for row in _advantage(arm, done)]


def _row(name: str, value: float, unit: str, target: float) -> dict[str, Any]:
    """A figure that should be at least `target`; null where a short run has no third, or no late window."""
    known = math.isfinite(value)
    ok = value >= target if known else None
    return {"name": name, "value": value if known else None, "unit": unit, "target": target, "ok": ok}


def _band(arm: str, runs: Sequence[Result], base: Sequence[Result]) -> dict[str, Any]:
    share, pool = (fmean(third(r, "band", 0) for r in some) for some in (runs, base))
    name = f"{arm}: band share in the first third, {share:.2f}, over the pool's {pool:.2f}"
    return _row(name, share / pool if pool else math.nan, "ratio", BAND_RATIO)


def _floors(arm: str, runs: Sequence[Result]) -> list[dict[str, Any]]:
    vendi = min((w["vendi"] for r in runs for w in r["windows"] if w["vendi"] is not None), default=math.nan)
    entropy = min((w["entropy"] for r in runs for w in r["windows"][5:]), default=math.nan)
    return [
        _row(f"{arm}: least gain over the warm start", min(gain(r) for r in runs), "accuracy", GAIN),
        _row(f"{arm}: least Vendi / n", vendi, "share", VENDI_FLOOR),
        _row(f"{arm}: least entropy of designs", entropy, "nats", ENTROPY_FLOOR),
    ]


def _advantage(arm: str, done: Sequence[Result]) -> list[dict[str, Any]]:
    at_end, over = differences(done, arm, end), differences(done, arm, curve_mean)
    if not at_end:
        return []
    positive = sum(value > 0 for value in at_end.values())
    return [
        _row(f"{arm} less {BASE} at the end", fmean(at_end.values()), "accuracy", ADVANTAGE),
        _row(f"{arm} less {BASE} over the curve", fmean(over.values()), "accuracy", ADVANTAGE),
        _row(f"{arm}: seeds above {BASE} at the end", positive, f"of {len(at_end)}", POSITIVE),
    ]
