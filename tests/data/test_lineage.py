"""From a dataset row to its document and back, by any id."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.export import export_sft
from data.lineage import KINDS, SHOWN_CHILDREN, Node, lineage, resolve, show
from spade.environments import Environment
from spade.errors import Abort
from spade.human import read_human
from spade.reviews import Review
from tests.data.records import chain


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    chain(catalog)
    export_sft(catalog, catalog.folder.parent, name="first")
    row = catalog.dataset_rows()[-1]
    catalog.append("reviews", [Review(row.row_id, row.dataset_id, row.episode_id, "ada", True, 4, 5)])
    catalog.append("human_rows", [read_human({"prompt": "What floats?", "completion": "Cork."}, "notes.jsonl", 1, "")])
    return catalog


def walked(nodes: Iterable[Node]) -> list[Node]:
    return [found for node in nodes for found in (node, *walked(node.neighbours))]


def test_from_a_dataset_row_up_to_the_document(catalog: Catalog) -> None:
    found = lineage(catalog, catalog.dataset_rows()[0].row_id)

    kinds = [node.kind for node in walked(found.up.neighbours)]
    assert set(kinds) == {"ep", "env", "attempt", "slot", "prompt", "doc", "cycle"}
    document = next(node for node in walked(found.up.neighbours) if node.kind == "doc")
    assert document.id == catalog.documents()[0].document_id
    assert document.label == "Water"
    assert [node.kind for node in found.down.neighbours] == ["dataset"]


def test_from_the_document_down_to_the_dataset(catalog: Catalog) -> None:
    found = lineage(catalog, catalog.documents()[0].document_id)

    ids = [node.id for node in walked(found.down.neighbours)]
    assert found.up.neighbours == ()
    assert set(ids) >= {row.row_id for row in catalog.dataset_rows()} | {catalog.datasets()[0].dataset_id}
    assert len(ids) == len(set(ids)), "each record is listed once"
    refused = [
        n for n in walked(found.down.neighbours) if n.kind == "attempt" and "refused by contract.class" in n.label
    ]
    assert len(refused) == 1


def test_from_a_checkpoint_up_to_the_environments_it_learned_from(catalog: Catalog) -> None:
    (checkpoint,) = catalog.query("select checkpoint_id from checkpoints")
    kinds = {node.kind for node in walked(lineage(catalog, checkpoint["checkpoint_id"]).up.neighbours)}
    assert {"batch", "ep", "env", "doc"} <= kinds


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.prefix)
def test_every_kind_of_id_has_a_lineage_and_a_record(catalog: Catalog, kind: object) -> None:
    table, column = kind.table, kind.column  # type: ignore[attr-defined]
    (row,) = catalog.query(f"select {column} as id from {table} limit 1")
    assert lineage(catalog, row["id"]).up.id == row["id"]
    found, record = show(catalog, row["id"])
    assert found is kind
    assert getattr(record, column) == row["id"]


def test_the_beginning_of_an_id_is_enough(catalog: Catalog) -> None:
    env_id = catalog.environments()[0].env_id
    assert resolve(catalog, env_id[:10])[1] == env_id
    assert resolve(catalog, env_id.removeprefix("env-"))[1] == env_id
    assert isinstance(show(catalog, env_id[:9])[1], Environment)


@pytest.mark.parametrize("text", ["env-ffffffffffffffff", "nonsense-1", "zzzz", "env-' or 1=1"])
def test_an_unknown_id_is_one_sentence(catalog: Catalog, text: str) -> None:
    with pytest.raises(Abort, match=r"Nothing in the catalog has|is no id"):
        lineage(catalog, text)


def test_an_ambiguous_beginning_names_the_candidates(catalog: Catalog) -> None:
    with pytest.raises(Abort, match="the beginning of several ids: ep-"):
        resolve(catalog, "ep-")


def test_many_children_are_counted_not_listed(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    _, env_id = chain(catalog, plays=20)
    found = lineage(catalog, env_id)
    episodes = [n for n in found.down.neighbours if n.kind == "ep"]
    assert len(episodes) == SHOWN_CHILDREN
    assert found.down.others == 40 - SHOWN_CHILDREN
    assert [n.label.split()[0] for n in episodes] == ["hinted", "plain"] * (SHOWN_CHILDREN // 2)
