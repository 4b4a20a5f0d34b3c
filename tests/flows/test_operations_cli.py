"""`spade export` and `spade maintain` as a person runs them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from data.catalog import Catalog
from flows.cli import app
from tests.report.worlds import World

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a finished cycle, on the server of the tests."""
    from prefect.settings import PREFECT_API_URL

    monkeypatch.setenv("PREFECT_API_URL", PREFECT_API_URL.value())
    monkeypatch.chdir(tmp_path)
    catalog = Catalog(tmp_path / "var")
    World(catalog, plays=4).cycle()
    catalog.close()
    return tmp_path / "var"


def test_maintain_merges_checks_and_shows_the_disk(home: Path) -> None:
    said = CliRunner().invoke(app, ["maintain"])

    assert said.exit_code == 0, said.output
    assert "Every rule of the catalog holds." in said.output
    assert "| catalog |" in said.output


def test_maintain_fails_when_the_catalog_lost_something(home: Path) -> None:
    for segment in (home / "catalog" / "environments").glob("*.parquet"):
        segment.unlink()
    said = CliRunner().invoke(app, ["maintain"])

    assert said.exit_code != 0
    assert "do not hold" in str(said.exception)


def test_export_of_an_unknown_kind_names_the_kinds(home: Path) -> None:
    said = CliRunner().invoke(app, ["export", "novel"])

    assert said.exit_code != 0
    assert "There are sft" in str(said.exception)
