"""The gates inside the real `openenv validate`, and their reports by its own schema, in its own environment."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spade.gates.openenv import KNOWN
from tests.data.consumers.make_env import made
from tests.defects import DEFECTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def openenv(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The process environment in which both packages are found: OpenEnv's own, and this one installed beside it."""
    python = made("openenv")
    place = tmp_path_factory.mktemp("installed")
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), str(ROOT)]
    subprocess.run(install, check=True)
    return {
        **os.environ,
        "PYTHONPATH": str(place),
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHON": str(python),
    }


def validated(package: Path, where: dict[str, str], *how: str) -> tuple[int, dict[str, str]]:
    """Exit code and the status of each check."""
    command = [where["PYTHON"], "-m", "flows.openenv_cli", "validate", str(package), "--json", *how]
    done = subprocess.run(
        command, env=where, cwd="/", capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    return done.returncode, {r["check_id"]: r["status"] for r in json.loads(done.stdout)["results"]}


def package_of(exported: dict[str, Path], place: Path, code: str) -> Path:
    """The exported package with another program."""
    (package,) = (exported["openenv"] / "openenv").iterdir()
    subprocess.run(["cp", "-r", str(package), str(place)], check=True)
    (place / "server" / "program.py").write_text(code)
    return place


def test_openenv_finds_every_grader_by_its_entry_point(openenv: dict[str, str]) -> None:
    program = """
from openenv.validation.graders import GraderRegistry
registry = GraderRegistry()
print(registry.load_entry_points(), sorted(registry._graders))
"""
    said = subprocess.run(
        [openenv["PYTHON"], "-c", program], env=openenv, cwd="/", capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == f"{len(KNOWN)} {sorted(KNOWN)}"


def test_an_exported_package_of_a_good_program_shows_our_gates_as_passed(
    exported: dict[str, Path], openenv: dict[str, str], tmp_path: Path
) -> None:
    good = (ROOT / "examples" / "environments" / "bell_tower.py").read_text()

    code, found = validated(package_of(exported, tmp_path / "good", good), openenv, "--level", "static", "--skip-build")

    assert code == 0
    assert found == {"static.manifest": "pass", **dict.fromkeys(KNOWN, "pass")}


@pytest.mark.parametrize("gate", [g for g in KNOWN if g not in ("runtime.host_containment",)])
def test_a_broken_program_fails_the_check_meant_for_it(
    exported: dict[str, Path], openenv: dict[str, str], tmp_path: Path, gate: str
) -> None:
    kinds = [d for d in DEFECTS if d.gate == gate]
    if not kinds:
        pytest.skip(f"no broken program is made for {gate} alone")

    code, found = validated(package_of(exported, tmp_path / "broken", kinds[0].code), openenv, "--skip-build")

    assert code == 1
    assert found[gate] == "fail"


def test_reports_of_programs_are_reports_of_openenv(openenv: dict[str, str], tmp_path: Path) -> None:
    """Its own model reads what `spade env check --report` and an export write."""
    programs = {"good": (ROOT / "examples" / "environments" / "bell_tower.py").read_text(), "broken": DEFECTS[0].code}
    for name, text in programs.items():
        (tmp_path / f"{name}.py").write_text(text)
    check = ["-m", "flows.cli", "env", "check", "good.py", "broken.py", "--report", "reports"]
    subprocess.run([sys.executable, *check], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    program = """
import sys
from pathlib import Path
from openenv.validation.report import ValidationReportV2
for path in sorted(Path(sys.argv[1]).iterdir()):
    report = ValidationReportV2.model_validate_json(path.read_text())
    print(report.verdict.value, len(report.results))
"""
    said = subprocess.run(
        [openenv["PYTHON"], "-c", program, str(tmp_path / "reports")],
        env=openenv,
        capture_output=True,
        text=True,
        check=True,
    )

    assert sorted(re.findall(r"^(\w+) \d+$", said.stdout, re.MULTILINE)) == ["fail", "pass"]


def test_an_exported_package_carries_the_report_of_its_gates(
    exported: dict[str, Path], openenv: dict[str, str]
) -> None:
    (package,) = (exported["openenv"] / "openenv").iterdir()
    program = """
import sys
from pathlib import Path
from openenv.validation.report import ValidationReportV2
print(ValidationReportV2.model_validate_json(Path(sys.argv[1]).read_text()).verdict.value)
"""
    path = package / "validation" / "gates.json"
    said = subprocess.run(
        [openenv["PYTHON"], "-c", program, str(path)], env=openenv, capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == "pass"
