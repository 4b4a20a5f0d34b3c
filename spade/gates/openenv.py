"""Verdicts as a `report-v2` of OpenEnv (RFC 008), one JSON object an environment.

The ids are those of OpenEnv's severity policy where it has one for the same thing; the others (`form.*`,
`runtime.robust`, `semantic.interactive`, the tool gates, `hint.*`, `pool.*`) keep their own, under the policy version
named here.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from spade.identity import content_id, digest
from spade.settings import GateSettings
from spade.verdicts import Status, Verdict, first_failure

POLICY_VERSION = "spade-v1"
"""Every id is fatal: what does not pass is refused. A warning passes and turns the report's verdict to `warn`."""
KNOWN = (
    "runtime.seed_control",
    "runtime.episode_determinism",
    "runtime.episode_isolation",
    "runtime.resource_bounds",
    "runtime.host_containment",
    "semantic.oracle_max",
    "semantic.floor_gap",
    "semantic.canary_floor",
    "semantic.no_solution_leakage",
    "semantic.replayability",
    "semantic.verifier_determinism",
)
"""Gates that OpenEnv's policy knows and its package (0.10) has no grader for."""
PROGRAM = "server/program.py"
"""Where an exported package keeps the environment's program."""
TAG = "spade"
"""The type tag of exported packages."""
_STATUS = {Status.PASS: "pass", Status.WARN: "pass", Status.FAIL: "fail", Status.ERROR: "error"}
_LEVELS = {"form": 1, "runtime": 2, "semantic": 3}


def report_v2(code: str, verdicts: Sequence[Verdict], settings: GateSettings, *, skill: str = "") -> dict[str, Any]:
    """The report of one environment, by OpenEnv's schema `report-v2`; `source_digest` is the program's SHA-256."""
    warned = any(v.status is Status.WARN for v in verdicts)
    return {
        "report_schema_version": "2",
        "target": content_id("env", code),
        "source_digest": digest(code),
        "signature": "openenv.yaml",
        "manifest": _manifest(code, settings, skill),
        "policy_version": POLICY_VERSION,
        "lane": "local",
        "levels_run": sorted({level for v in verdicts if (level := _LEVELS.get(v.gate.partition(".")[0]))}),
        "results": [check_result(v) for v in verdicts],
        "verdict": "fail" if first_failure(tuple(verdicts)) else "warn" if warned else "pass",
    }


def check_result(verdict: Verdict) -> dict[str, Any]:
    """One result of a report."""
    measured = {"value": verdict.measured, "threshold": verdict.threshold}
    return {
        "check_id": verdict.gate,
        "status": _STATUS[verdict.status],
        "measured": {name: value for name, value in measured.items() if value is not None},
        "evidence": [verdict.message] if verdict.message else [],
        "remediation": None if verdict.passed else verdict.message or None,
        "duration_s": round(verdict.seconds, 6),
    }


def verdict_of(gate: str, verdicts: Iterable[Verdict]) -> Verdict:
    """A gate's verdict among all of a program; where it was not reached, an error that names what stopped it."""
    listed = tuple(verdicts)
    found = next((v for v in listed if v.gate == gate), None)
    if found is not None:
        return found
    stopped = first_failure(listed)
    why = f"{stopped.gate} stopped the program: {stopped.message}" if stopped else "It was not judged."
    return Verdict(gate, Status.ERROR, why)


def _manifest(code: str, settings: GateSettings, skill: str) -> dict[str, Any]:
    """What an exported package of this program declares."""
    return {
        "manifest_schema_version": "1",
        "name": content_id("env", code).replace("env-", "spade_"),
        "signature": "openenv.yaml",
        "version": None,
        "reward": {"range": [0.0, 1.0], "oracle_tolerance": 0.0, "floor_margin": settings.floor_gap},
        "resources": {"cpu": 1.0, "memory_mb": 1536, "disk_mb": 256, "episode_timeout_s": 120.0},
        "capabilities": {
            "oracle": {"form": "script", "location": "oracle/solve.py"},
            "verifier": {"kind": "reward_channel"},
            "canaries": "canaries",
        },
        "types": {"tags": [TAG, skill] if skill else [TAG]},
        "network": {"mode": "no-network"},
    }
