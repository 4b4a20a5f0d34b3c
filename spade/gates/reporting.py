"""Verdicts as JSON values, for people's tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from spade.gates.judging import RULES_VERSION
from spade.identity import content_id
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Verdict, first_failure


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "gate": verdict.gate,
        "status": verdict.status.value,
        "message": verdict.message,
        "measured": verdict.measured,
        "threshold": verdict.threshold,
        "seconds": round(verdict.seconds, 6),
    }


def check_json(
    code: str, setting: Setting, verdicts: Sequence[Verdict], settings: GateSettings, isolation: Mapping[str, Any]
) -> dict[str, Any]:
    """What is known of one program after its gates: accepted or not, by which gate, every verdict, and what judged."""
    failure = first_failure(tuple(verdicts))
    return {
        "env_id": content_id("env", code),
        "setting": setting.value,
        "accepted": failure is None,
        "rejected_by": failure.gate if failure else None,
        "reason": failure.message if failure else None,
        "verdicts": [verdict_json(v) for v in verdicts],
        "rules_version": RULES_VERSION,
        "thresholds": settings.model_dump(mode="json"),
        "isolation": isolation.get("level"),
    }
