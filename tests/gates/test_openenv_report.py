import json
from pathlib import Path

from spade.gates.openenv import KNOWN, check_result, report_v2, verdict_of
from spade.settings import GateSettings
from spade.verdicts import Status, Verdict
from tests.gates.test_cli import GOOD, LEAKY, spade

PASSED = Verdict("form.parse", Status.PASS)
BROKEN = Verdict("semantic.oracle_max", Status.FAIL, "It earns 0.5.", 0.5, 1.0, 0.25)


def test_a_result_carries_what_was_measured_and_what_to_mend() -> None:
    assert check_result(BROKEN) == {
        "check_id": "semantic.oracle_max",
        "status": "fail",
        "measured": {"value": 0.5, "threshold": 1.0},
        "evidence": ["It earns 0.5."],
        "remediation": "It earns 0.5.",
        "duration_s": 0.25,
    }


def test_a_report_fails_closed_and_tells_warnings_apart() -> None:
    settings = GateSettings()
    warned = Verdict("form.imports", Status.WARN, "Shared generator.")

    assert report_v2("x", (), settings)["verdict"] == "fail"
    assert report_v2("x", (PASSED,), settings)["verdict"] == "pass"
    assert report_v2("x", (PASSED, warned), settings)["verdict"] == "warn"
    assert report_v2("x", (PASSED, BROKEN), settings)["verdict"] == "fail"
    assert report_v2("x", (PASSED, BROKEN), settings)["levels_run"] == [1, 3]


def test_a_gate_that_was_not_reached_is_an_error_with_what_stopped_the_program() -> None:
    stopped = Verdict("form.contract", Status.FAIL, "There is no class.")

    verdict = verdict_of("semantic.oracle_max", (PASSED, stopped))

    assert verdict.status is Status.ERROR
    assert "form.contract" in verdict.message
    assert verdict_of("semantic.oracle_max", (BROKEN,)) is BROKEN


def test_check_writes_a_report_for_each_program(tmp_path: Path) -> None:
    for name, text in {"good.py": GOOD, "leaky.py": LEAKY}.items():
        (tmp_path / name).write_text(text)

    spade("env", "check", str(tmp_path / "good.py"), str(tmp_path / "leaky.py"), "--report", str(tmp_path / "reports"))
    reports = [json.loads(path.read_text()) for path in (tmp_path / "reports").iterdir()]

    assert sorted(report["verdict"] for report in reports) == ["fail", "pass"]
    for report in reports:
        assert set(KNOWN) <= {result["check_id"] for result in report["results"]}
