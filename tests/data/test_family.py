"""Whom an environment descends from and led to: three generations both ways, and what it became."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.export import export_sft
from data.family import MOST, families, parents
from data.lineage import Node, lineage
from tasks.relatives import relatives_markdown
from tests.data.records import chain


def designed(catalog: Catalog, number: int, *examples: str) -> str:
    """Store a chain whose designer was shown these environments; its environment's id."""
    staged = Catalog(catalog.folder.parent / f"staged-{number}")
    _, env_id = chain(staged, number)
    for table in ("cycles", "documents", "slots", "prompts", "environments", "hints", "episodes", "scores"):
        catalog.append(table, getattr(staged, table)())
    attempts = [replace(a, examples=examples) for a in staged.attempts()]
    catalog.append("attempts", attempts)
    staged.close()
    return env_id


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> tuple[Catalog, list[str]]:
    """Five generations, each shown the one before."""
    catalog = Catalog(tmp_path_factory.mktemp("family"))
    ids: list[str] = []
    for number in range(5):
        ids.append(designed(catalog, number, *ids[-1:]))
    return catalog, ids


def test_three_generations_both_ways(line: tuple[Catalog, list[str]]) -> None:
    catalog, ids = line
    first, _, middle, _, last = families(catalog, ids)

    assert [(r.env_id, r.generations) for r in middle.ancestors] == [(ids[1], 1), (ids[0], 2)]
    assert [(r.env_id, r.generations) for r in middle.descendants] == [(ids[3], 1), (ids[4], 2)]
    assert [r.generations for r in last.ancestors] == [1, 2, 3]
    assert first.ancestors == ()
    assert middle.made_of["document"] == "Water"
    assert parents(catalog, ids) == sorted(ids[:-1])
    assert all(r.win_rate is not None for r in middle.ancestors)


def test_a_large_family_is_cut_to_the_nearest(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    root = designed(catalog, 0)
    child = designed(catalog, 1, root)
    for number in range(2, MOST + 4):
        designed(catalog, number, child)
    (found,) = families(catalog, [root])

    assert len(found.descendants) == MOST
    assert [r.generations for r in found.descendants][:2] == [1, 2]


def test_datasets_and_checkpoints_are_on_the_page(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    _, env_id = chain(catalog)
    dataset = export_sft(catalog, tmp_path, name="first")
    assert dataset is not None
    (found,) = families(catalog, [env_id])
    page = relatives_markdown(found)

    assert f"/artifacts/key/{dataset.dataset.dataset_id}" in page
    assert f"{dataset.dataset.rows} rows" in page
    assert "/artifacts/key/ckpt-" in page
    assert f"/artifacts/key/{env_id})" in page
    assert "None so far." in page


def test_the_page_links_every_relative(line: tuple[Catalog, list[str]]) -> None:
    catalog, ids = line
    page = relatives_markdown(families(catalog, [ids[2]])[0])

    for other in (ids[0], ids[1], ids[3], ids[4]):
        assert f"(/artifacts/key/{other})" in page
        assert f"(/artifacts/key/{other}-lineage)" in page


def test_lineage_names_examples_and_does_not_follow_them(line: tuple[Catalog, list[str]]) -> None:
    catalog, ids = line
    found = lineage(catalog, ids[2])

    def shown(nodes: Iterable[Node]) -> list[str]:
        return [node.id for node in nodes if node.kind == "env"]

    assert shown(found.up.neighbours) == [ids[1]]
    assert shown(found.down.neighbours) == [ids[3]]
    assert all(not n.neighbours for n in found.up.neighbours if n.kind == "env")
    assert ids[0] not in str(found.up.json())


def test_nothing_is_asked_for_nobody(tmp_path: Path) -> None:
    assert families(Catalog(tmp_path), []) == []
