"""Installed packages become documents on code, without running any of them."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data.docstrings import docstrings_of
from data.document_sources import BrokenLine
from flows.corpus_cli import corpus_app
from spade.documents import Document
from spade.errors import Abort

LONG = "word " * 40
SOURCE = f'''
"""Module. {LONG}"""
raise SystemExit("this must never run")


class Thing(Base):
    """Class. {LONG}"""

    def act(self, how: str = "well") -> int:
        """Method. {LONG}"""

    def _hidden(self):
        """Hidden. {LONG}"""


def short():
    """Too short."""
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "made_up_package"
    (folder / "tests").mkdir(parents=True)
    (folder / "__init__.py").write_text(SOURCE)
    (folder / "broken.py").write_text("def half(:\n")
    (folder / "tests" / "test_x.py").write_text(SOURCE)
    (folder / "_private.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "made_up_package"


def test_what_is_public_and_documented_becomes_a_document(package: str) -> None:
    found = list(docstrings_of(package))

    documents = [d for d in found if isinstance(d, Document)]
    assert [d.title for d in documents] == [f"{package}{part}" for part in ("", ".Thing", ".Thing.act")]
    assert documents[1].text.startswith(f"class {package}.Thing(Base)\n\nClass.")
    assert documents[2].text.startswith(f"{package}.Thing.act(self, how: str='well') -> int\n\nMethod.")
    assert [b.file for b in found if isinstance(b, BrokenLine)] == ["broken.py"]
    assert package not in sys.modules


def test_a_distribution_is_found_by_its_name_and_carries_its_licence() -> None:
    documents = [d for d in docstrings_of("scikit-learn", 400) if isinstance(d, Document)]
    assert documents
    assert {d.license for d in documents} == {"BSD-3-Clause"}
    assert all(d.source.startswith("scikit-learn ") and d.subject == "code" for d in documents)


def test_the_standard_library_is_there_too() -> None:
    documents = [d for d in docstrings_of("textwrap") if isinstance(d, Document)]
    assert "textwrap.wrap" in {d.title for d in documents}
    assert {d.license for d in documents} == {"PSF-2.0"}


def test_a_package_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(Abort, match="no installed package 'surely_not_there'"):
        list(docstrings_of("surely_not_there"))


def test_the_command_makes_a_corpus_that_a_run_can_use(package: str, tmp_path: Path) -> None:
    to = tmp_path / "code.jsonl"

    def said(*arguments: object) -> str:
        result = CliRunner().invoke(corpus_app, [str(a) for a in arguments], catch_exceptions=False)
        assert result.exit_code == 0
        return result.output

    assert "3 documents added" in said("from-python", package, "--to", to)
    assert "0 documents added" in said("from-python", package, "--to", to)
    assert "left out: licence unknown" in said("from-python", package, "--to", tmp_path / "b", "--only-license", "MIT")
    found = json.loads(said("stats", to, "--json"))
    assert (found["documents"], found["subjects"]) == (3, {"code": 3})
