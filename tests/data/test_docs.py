"""What the documentation shows works as shown."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from data.catalog import Catalog
from data.export import export_sft
from data.kinds.registry import KINDS
from data.tables import TABLES
from flows.cli import app
from tests.data.documented import sections, snippets
from tests.data.records import chain

CATALOG = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", CATALOG, re.DOTALL)


def test_every_kind_has_a_command_and_a_snippet() -> None:
    """The snippets themselves are run in `tests/data/consumers`, where their libraries are."""
    assert sections().keys() == snippets("").keys() == KINDS.keys()
    assert snippets("python").keys() | snippets("sh").keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_documented_command_is_ours(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def flow(_home: str | None, _path: str, **parameters: Any) -> dict[str, Any]:
        asked.update(parameters)
        return {"rows": 1, "folder": "there"}

    monkeypatch.setattr("flows.operations_cli._flow_in", flow)
    _, *words = snippets("")[kind].split()
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    assert asked["kind"] == kind


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    chain(catalog)
    export_sft(catalog, catalog.folder.parent, name="first")
    return catalog


@pytest.mark.parametrize("query", QUERIES)
def test_every_documented_question_is_answered(catalog: Catalog, query: str) -> None:
    rows = catalog.query(query)
    if "regret_low > 0" not in query and "count(c.env_id) = 0" not in query:
        assert rows


def test_the_documented_program_runs(catalog: Catalog, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", CATALOG, re.DOTALL)
    (tmp_path / "var").symlink_to(catalog.folder.parent)
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "6 of 6 episodes, 2 won without a hint\n"


def test_every_table_and_view_is_documented(catalog: Catalog) -> None:
    named = set(re.findall(r"`(\w+)`", CATALOG))
    assert set(catalog.tables()) - {t.raw_view for t in TABLES.values()} <= named


def test_the_documented_figures_are_right(catalog: Catalog) -> None:
    """The views count what the records say."""
    costs = {row["role"]: row for row in catalog.query("select * from costs")}
    assert costs["designer"]["calls"] == 2
    assert costs["agent plain"]["completion_tokens"] == 12
    assert {row["gate"]: row["attempts"] for row in catalog.query("select * from funnel")} == {
        "": 1,
        "contract.class": 1,
    }
    (board,) = catalog.query("select * from scoreboard")
    assert (board["win_rate"], board["hinted_win_rate"]) == (pytest.approx(2 / 3), 1.0)
    assert len(catalog.query("select * from turns")) == 12
    assert {(row["subject_id"][:4], row["gate"]) for row in catalog.query("select * from verdicts")} == {
        ("atte", "contract.class"), ("atte", "semantic.oracle_max"), ("hint", "contract.class"),
    }  # fmt: skip
