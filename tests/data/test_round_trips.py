"""Every record of every table comes back equal, whatever it holds; and old files stay readable."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.blemishes import blemishes, mended
from data.catalog import Catalog
from data.columns import struct_of
from data.engine import Engine
from data.tables import EPISODES, TABLES, Table
from spade.episodes import Episode
from spade.messages import Tokens, Usage
from tests.data import strategies
from tests.data.records import episode


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=st.data())
def test_what_goes_in_comes_out(table: Table[Any], drawn: st.DataObject) -> None:
    stored = drawn.draw(st.lists(strategies.records(table.record), min_size=1, max_size=3))

    rows = table.encode(stored)

    assert rows.schema == table.schema
    assert table.decode(rows) == stored
    for name in table.properties:
        assert rows.column(name).to_pylist() == [getattr(record, name) for record in stored]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=st.data())
def test_the_way_over_disk_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, table: Table[Any], drawn: st.DataObject
) -> None:
    stored = drawn.draw(st.lists(strategies.records(table.record), min_size=1, max_size=3, unique_by=lambda r: repr(r)))
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    catalog.append(table.name, stored)
    keys = [tuple(row[k] for k in table.key) for row in table.encode(stored).to_pylist()]
    firsts = [record for i, record in enumerate(stored) if keys[i] not in keys[:i]]

    assert catalog.read(table) == firsts
    catalog.append(table.name, stored)
    catalog.compact(table.name)
    assert catalog.read(table) == firsts


@given(st.text(st.characters(categories=["L", "Cs"]), max_size=6))
def test_any_text_can_be_stored_and_only_surrogates_change(text: str) -> None:
    stored = dataclasses.replace(episode(), detail=text)
    (back,) = EPISODES.decode(EPISODES.encode([stored]))
    whole = not any("\ud800" <= c <= "\udfff" for c in text)
    assert (back == stored) == whole
    assert len(back.detail) == len(text)
    assert bool(blemishes(stored)) != whole
    assert mended(mended(stored)[0]) == (mended(stored)[0], ())


def test_missing_parts_are_not_empty_parts() -> None:
    """Tokens that the engine did not return are None, not zero tokens."""
    turns = episode().turns
    kinds = (None, Tokens(), Tokens((), (), ()), Tokens((1,), None, (0.5,)))
    stored = dataclasses.replace(
        episode(), turns=tuple(dataclasses.replace(turns[0], tokens=k) for k in kinds), usage=Usage(1, 2, None)
    )
    (back,) = EPISODES.decode(EPISODES.encode([stored]))
    assert tuple(t.tokens for t in back.turns) == kinds


@dataclass(frozen=True)
class Old:
    name: str


@dataclass(frozen=True)
class New:
    name: str
    count: int = 7
    note: str | None = None
    parts: tuple[int, ...] = (1, 2)


def test_a_field_added_later_reads_as_its_default() -> None:
    old = struct_of(Old).encode([Old("a"), Old("b")], strict=True)
    assert struct_of(New).decode(old) == [New("a"), New("b")]


def test_files_of_an_older_form_stay_readable(tmp_path: Path) -> None:
    """Columns and parts of turns that came later are null in old files; both forms are read together."""
    catalog = Catalog(tmp_path)
    rows = EPISODES.encode([episode(play=0)])
    turn = rows.schema.field("turns").type.value_type
    older_turn = pa.struct([turn.field(i) for i in range(turn.num_fields) if turn.field(i).name != "guided"])
    older = [
        pa.field(f.name, pa.list_(older_turn) if f.name == "turns" else f.type)
        for f in rows.schema
        if f.name not in ("system", "seconds")
    ]
    values = [{k: v for k, v in row.items() if k in {f.name for f in older}} for row in rows.to_pylist()]
    old_rows = pa.Table.from_pylist(values, schema=pa.schema(older))
    Engine(catalog.folder).segments["episodes"].write(old_rows, "0ld0ld00")
    catalog.append("episodes", [episode(play=1)])

    unguided = tuple(dataclasses.replace(t, guided=False) for t in episode(play=0).turns)
    expected: list[Episode] = [
        dataclasses.replace(episode(play=0), turns=unguided, system="", seconds=0.0),
        episode(play=1),
    ]
    assert catalog.episodes() == expected
    assert catalog.episodes(cycle_id="cycle-0") == expected
    catalog.compact()
    assert catalog.episodes() == expected
