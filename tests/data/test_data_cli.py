"""The commands over what is stored, as a person calls them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from data.catalog import Catalog
from data.export import export_sft
from flows import data_cli
from flows.corpus_cli import corpus_app
from spade.errors import Abort
from tests.data.records import chain

app = typer.Typer()
for command in (data_cli.lineage, data_cli.show, data_cli.sql):
    app.command()(command)
app.add_typer(corpus_app)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    catalog = Catalog(home)
    chain(catalog)
    export_sft(catalog, home, name="first")
    return home


def said(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_lineage_walks_from_a_row_to_its_document(home: Path) -> None:
    row_id = Catalog(home).dataset_rows()[0].row_id
    text = said("lineage", row_id, "--home", home)
    assert "Water" in text
    assert "made of" in text
    assert "became" in text
    assert json.loads(said("lineage", row_id, "--home", home, "--json"))["id"] == row_id


def test_show_prints_a_whole_record(home: Path) -> None:
    env = Catalog(home).environments()[0]
    assert env.code in said("show", env.env_id, "--home", home)
    assert json.loads(said("show", env.env_id, "--home", home, "--json"))["code"] == env.code


def test_sql_answers_and_lists_tables(home: Path) -> None:
    answer = json.loads(
        said("sql", "select arm, count(*) as n from episodes group by 1 order by 1", "--json", "--home", home)
    )
    assert answer == [{"arm": "hinted", "n": 3}, {"arm": "plain", "n": 3}]
    listed = {row["table"] for row in json.loads(said("sql", "--tables", "--json", "--home", home))}
    assert {"episodes", "verdicts", "chains"} <= listed
    assert not any(name.startswith(("empty", "hashes", "doubles")) for name in listed)
    assert "no rows" in said("sql", "select 1 where false", "--home", home)


@pytest.mark.parametrize(
    "arguments", [["lineage", "env-ffff"], ["show", "what"], ["sql", "drop table x"]], ids=lambda a: a[0]
)
def test_what_is_unknown_is_one_sentence(home: Path, arguments: list[str]) -> None:
    with pytest.raises(Abort):
        said(*arguments, "--home", home)


def test_a_home_without_a_catalog_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="no catalog"):
        said("sql", "select 1", "--home", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_model_text_is_printed_as_text(tmp_path: Path) -> None:
    """Neither terminal control codes nor markup of a document reach the terminal."""
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"text": "[bold]red[/bold] \x1b[31m bell \x07", "title": "[link=x]t[/link]"}) + "\n")
    text = said("corpus", "sample", path)
    assert "[bold]red[/bold]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_corpus_grows_by_what_is_new(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Ice floats.")
    (tmp_path / "notes" / "b.txt").write_bytes(b"\xff\xfe")
    target = tmp_path / "corpus.jsonl"

    assert "1 documents added" in said("corpus", "add", tmp_path / "notes", "--to", target, "--license", "CC0-1.0")
    assert "0 documents added" in said("corpus", "add", tmp_path / "notes", "--to", target)
    found = json.loads(said("corpus", "stats", target, "--json"))
    assert found["documents"] == 1
    assert found["licenses"] == {"CC0-1.0": 1}
