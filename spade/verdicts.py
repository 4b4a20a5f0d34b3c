"""What a gate says of an environment or a hint."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spade.identity import content_id


class Status(StrEnum):
    """A gate that errs does not pass: fail closed."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One gate's verdict.

    `gate` is the id listed in docs/gates.md (`semantic.oracle_max`); `measured` and `threshold` are JSON values;
    `message` tells a designer what to mend, in one or two sentences.
    """

    gate: str
    status: Status
    message: str = ""
    measured: Any = None
    threshold: Any = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status in (Status.PASS, Status.WARN)


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with the id of its subject, where it stands alone and not in an attempt or a hint."""

    subject_id: str
    verdict: Verdict

    @property
    def judged_id(self) -> str:
        return content_id("verdict", self.subject_id, self.verdict.gate)


def first_failure(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The gate that stops a subject, in gate order; None when all passed. No verdicts at all is a failure too.

    A gate that failed goes before one that could not be judged, which is most often its consequence.
    """
    if not verdicts:
        return Verdict("gates.none", Status.ERROR, "No gate was run, so nothing is known of this environment.")
    failed = next((v for v in verdicts if v.status is Status.FAIL), None)
    return failed or next((v for v in verdicts if not v.passed), None)
