import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from data.catalog import Catalog
from flows.env_cli import env_app, parse
from spade.attempts import Attempt
from spade.environments import Environment
from spade.gates import gate_names
from spade.messages import Completion, Sampling
from spade.prompting import render
from spade.skills import Setting, Skill
from spade.verdicts import Status, Verdict
from tests.defects import DEFECTS

app = typer.Typer()
app.add_typer(env_app, name="env")
app.command()(parse)
GOOD = render("skeleton_games.txt") + "\n"
LEAKY = next(d.code for d in DEFECTS if d.kind == "prints the answer at reset")


def spade(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    return str(path)


def test_check_reports_every_gate_and_exits_with_1_when_one_program_is_rejected(good: str, tmp_path: Path) -> None:
    leaky = tmp_path / "leaky.py"
    leaky.write_text(LEAKY)

    result = spade("env", "check", good, str(leaky), "--json")
    first, second = json.loads(result.stdout)

    assert result.exit_code == 1
    assert (first["accepted"], first["rejected_by"]) == (True, None)
    assert (second["accepted"], second["rejected_by"]) == (False, "semantic.no_solution_leakage")
    assert [v["gate"] for v in second["verdicts"]] == gate_names()


def test_check_judges_a_hint_with_the_program(good: str, tmp_path: Path) -> None:
    hint = tmp_path / "hint.txt"
    hint.write_text("Halve what is left after each reply.")

    result = spade("env", "check", good, "--hint", str(hint))

    assert result.exit_code == 0
    assert "hint.no_leak" in result.stdout
    assert "accepted" in result.stdout


def test_play_lets_a_person_play(good: str) -> None:
    result = spade("env", "play", good, "--seed", "3", stdin="hello\n0 0 0\n")

    assert result.exit_code == 0
    assert "Not three digits" in result.stdout
    assert "Tries left: 8" in result.stdout


def test_parse_shows_what_the_parsers_make_of_a_reply(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text('<tool_call>{"name": "f", "arguments": {"a": {"b": [1]}}}</tool_call>\ndone')

    tools = json.loads(spade("parse", str(reply), "--as", "tools", "--json").stdout)
    action = json.loads(spade("parse", "-", "--as", "action", "--json", stdin=r"\boxed{7}").stdout)
    program = json.loads(spade("parse", "-", "--as", "program", "--json", stdin=f"```python\n{GOOD}```").stdout)

    assert tools["parts"] == [{"call": "f", "arguments": {"a": {"b": [1]}}}, {"answer": "done"}]
    assert action == {"action": "7", "boxed": True}
    assert (program["code"], program["title"]) == (GOOD, "Dial Lock")


def test_show_prints_program_and_verdicts_of_a_stored_environment(tmp_path: Path) -> None:
    environment = Environment(GOOD, Setting.GAMES, Skill.LOGICAL_DEDUCTION, "Dial Lock", "Open a lock.")
    verdicts = (Verdict("semantic.oracle_max", Status.PASS, "", 1.0, 1.0),)
    completion = Completion("x", "m", "w")
    attempt = Attempt("slot-1", 0, "p", completion, Sampling(), environment.env_id, (), verdicts)
    catalog = Catalog(tmp_path)
    catalog.append("environments", [environment])
    catalog.append("attempts", [attempt])
    catalog.close()

    shown = spade("env", "show", environment.env_id, "--home", str(tmp_path))
    code = spade("env", "show", environment.env_id[:9], "--home", str(tmp_path), "--code")

    assert shown.exit_code == 0, shown.output
    assert "class DialLockEnv" in shown.stdout
    assert "semantic.oracle_max" in shown.stdout
    assert code.stdout == GOOD
