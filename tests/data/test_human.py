"""What people wrote goes into a dataset at a set share, with its own lineage; what is no conversation stays out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.catalog import Catalog
from data.export import Blocked, Plan, export
from data.human import take_in_human
from data.lineage import lineage
from spade.errors import Abort, Skip
from spade.human import drawn_share, read_human
from tests.data.records import chain

GOOD = [
    {"messages": [{"role": "user", "content": "What floats?"}, {"role": "assistant", "content": "Cork."}]},
    {"prompt": "What sinks?", "completion": "Lead.", "license": "cc0-1.0"},
    {"prompt": "What melts?", "completion": "Ice."},
]
BROKEN = [
    "no json",
    json.dumps(["a", "list"]),
    json.dumps({"messages": []}),
    json.dumps({"messages": [{"role": "assistant", "content": "First."}]}),
    json.dumps({"messages": [{"role": "user", "content": "And?"}]}),
    json.dumps({"prompt": "Empty?", "completion": " "}),
    json.dumps({"prompt": 3, "completion": "x"}),
    json.dumps({"messages": [{"role": "wizard", "content": "Abra."}]}),
]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = Catalog(tmp_path / "home")
    for number in range(2):
        chain(catalog, number)
    return catalog


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_broken_lines_are_named_and_left_out(catalog: Catalog, tmp_path: Path) -> None:
    taken = take_in_human(catalog, written(tmp_path / "notes.jsonl", *map(json.dumps, GOOD), *BROKEN), "mit")
    assert [row.line for row in taken.rows] == [1, 2, 3]
    assert [row.license for row in taken.rows] == ["mit", "cc0-1.0", "mit"]
    assert [number for number, _ in taken.broken] == [4, 5, 6, 7, 8, 9, 10, 11]
    take_in_human(catalog, tmp_path / "notes.jsonl", "other")
    assert [r["license"] for r in catalog.query("select license from human_rows order by line")] == [
        "mit",
        "cc0-1.0",
        "mit",
    ]


def test_a_file_without_a_conversation_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(Abort, match="Line 1"):
        take_in_human(catalog, written(tmp_path / "notes.jsonl", *BROKEN))
    with pytest.raises(Abort, match="cannot be read"):
        take_in_human(catalog, tmp_path / "nothing.jsonl")


def test_a_mixed_dataset_has_the_share_and_leads_back_to_file_and_line(catalog: Catalog, tmp_path: Path) -> None:
    take_in_human(catalog, written(tmp_path / "notes.jsonl", *map(json.dumps, GOOD)))
    plays = export(catalog, tmp_path, Plan("sft", "plays"))
    mixed, again = (export(catalog, tmp_path / place, Plan("sft-mixed", "mix", human_share=0.2)) for place in "ab")
    assert plays is not None
    assert mixed is not None
    assert again is not None
    count = plays.dataset.rows
    human = round(count * 0.2 / 0.8)
    assert human >= 1
    assert mixed.dataset.rows == count + human
    rows = [json.loads(line) for line in (mixed.folder / "train.jsonl").open()]
    assert [row["origin"] for row in rows] == ["play"] * count + ["human"] * human
    for name in ("train.jsonl", "checksums.sha256", "data/train-00000-of-00001.parquet"):
        assert (mixed.folder / name).read_bytes() == (again.folder / name).read_bytes()
    last = rows[-1]
    assert last["episode_id"] is None
    (above,) = [n for n in lineage(catalog, last["row_id"]).up.neighbours if n.kind == "human"]
    assert above.id == last["document_id"]
    assert above.label.startswith("notes.jsonl:")
    assert any(n.id == last["row_id"] for n in lineage(catalog, above.id).down.neighbours)
    assert json.loads((mixed.folder / "manifest.json").read_text())["human_share"] == 0.2


def test_more_than_there_is_names_the_share_that_can_be_had(catalog: Catalog, tmp_path: Path) -> None:
    take_in_human(catalog, written(tmp_path / "notes.jsonl", json.dumps(GOOD[0])))
    with pytest.raises(Abort, match="1 are stored") as refused:
        export(catalog, tmp_path, Plan("sft-mixed", "mix", human_share=0.9))
    assert "--human-share 0." in refused.value.remedy
    with pytest.raises(Abort, match="plays alone"):
        export(catalog, tmp_path, Plan("sft", "mix", human_share=0.1))


def test_secrets_in_what_people_wrote_block_the_export(catalog: Catalog, tmp_path: Path) -> None:
    leaking = {"prompt": "Whom do I write to?", "completion": "Write to jane.doe@ferrymail.net, please."}
    take_in_human(catalog, written(tmp_path / "notes.jsonl", json.dumps(leaking)))
    with pytest.raises(Blocked, match="findings"):
        export(catalog, tmp_path, Plan("sft-mixed", "mix", human_share=0.2))


@given(st.integers(1, 500), st.floats(0.01, 0.6), st.integers(0, 9))
def test_the_share_is_met_to_within_half_a_row(others: int, share: float, seed: int) -> None:
    ids = [f"human-{n:04d}" for n in range(1000)]
    drawn = drawn_share(ids, share, others, seed)
    assert len(set(drawn)) == len(drawn)
    assert abs(len(drawn) - others * share / (1 - share)) <= 0.5 + 1e-9
    assert drawn == drawn_share(reversed(ids), share, others, seed)


NAMES = st.sampled_from(["messages", "role", "content", "prompt", "completion"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
)


@given(VALUES)
def test_any_json_is_a_conversation_or_refused(value: object) -> None:
    try:
        row = read_human(value, "notes.jsonl", 1, "")
    except Skip:
        return
    assert row.messages[-1].role == "assistant"
