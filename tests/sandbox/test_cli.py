"""`spade sandbox try` and `spade doctor`, as a person or a script would use them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.sandbox_cli import doctor, sandbox_app
from spade.errors import Abort
from tests.sandbox.programs import COUNTING, running

run = CliRunner().invoke


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "counting.py"
    path.write_text(COUNTING)
    return path


def test_try_prints_every_call(program: Path) -> None:
    done = run(sandbox_app, ["try", str(program), "--seed", "3", "--action", "a", "--action", "stop", "--action", "b"])

    assert done.exit_code == 0
    assert "reset(3): ok" in done.stdout
    assert "| 1: a" in done.stdout
    assert "step('b')" not in done.stdout


def test_try_as_json_holds_calls_and_isolation(program: Path) -> None:
    done = run(sandbox_app, ["try", str(program), "--action", "crash", "--json"])
    tried = json.loads(done.stdout)

    assert done.exit_code == 1
    assert [call["outcome"] for call in tried["calls"]] == ["ok", "ok", "env_error"]
    assert tried["isolation"]["level"] in {"confined", "namespaced"}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (running().encode() + b"# caf\xe9", "not valid UTF-8"),
        (b"\xff\xfe" + running().encode("utf-16-le"), "not valid UTF-8"),
        (running().encode() + b"# \0", "NUL"),
        (running().encode() + b"#" * 65_536, "at most 65536 are allowed"),
        (b"", "exactly one class"),
    ],
)
def test_try_shows_why_a_program_is_refused(program: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(program)
    done = run(sandbox_app, ["try", str(path)])

    assert done.exit_code == 1
    assert "open: env_protocol" in done.stdout
    assert words in done.stdout


@pytest.mark.parametrize("arguments", [["/nonexistent.py"], ["README.md", "--required-level", "vm"]])
def test_what_cannot_be_tried_is_refused_with_a_sentence(arguments: list[str]) -> None:
    done = run(sandbox_app, ["try", *arguments])

    assert isinstance(done.exception, Abort)


def test_the_doctor_reports_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    doctor()
    words = capsys.readouterr().out
    doctor(as_json=True)
    report = json.loads(capsys.readouterr().out)

    assert "0 succeeded" in words
    assert report["self_test"] == {"tried": 13, "broke_out": {}}
