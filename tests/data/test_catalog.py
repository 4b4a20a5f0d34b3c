"""The catalog keeps what it is given, once, and says what it could not keep as it was."""

import math
import os
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from data.catalog import Catalog
from data.compaction import MANY
from data.segments import ROW_GROUP_ROWS
from spade.documents import Document
from spade.errors import Abort, Skip
from spade.verdicts import Judged, Status, Verdict
from tests.data.records import episode


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path)


def test_episodes_come_back_as_they_went_in(catalog: Catalog) -> None:
    """Turns with token ids and log-probabilities included."""
    stored = [episode(play=i, won=i % 2 == 0) for i in range(8)]

    catalog.append("episodes", stored)

    assert catalog.episodes() == stored
    assert catalog.episodes(won=False) == stored[1::2]


def test_an_empty_catalog_answers(catalog: Catalog) -> None:
    assert catalog.episodes() == []
    assert catalog.query("select count(*) as n from episodes") == [{"n": 0}]
    assert not catalog.folder.exists()


def test_the_same_id_twice_is_one_row_and_the_first_stays(catalog: Catalog) -> None:
    """A play that was stored and played again after a crash counts once."""
    first, again = episode(won=True), episode(won=False)
    catalog.append("episodes", [first])
    catalog.append("episodes", [again, episode(play=1)])

    assert catalog.episodes() == [first, episode(play=1)]
    assert catalog.query("select count(*) as n, sum(won::int) as w from episodes") == [{"n": 2, "w": 2}]


def test_the_same_id_twice_in_one_append_is_one_row(catalog: Catalog) -> None:
    catalog.append("episodes", [episode(), episode(), episode()])
    assert catalog.episodes() == [episode()]


def test_two_catalogs_of_one_home_see_each_other(tmp_path: Path) -> None:
    one, other = Catalog(tmp_path), Catalog(tmp_path)
    assert one.documents() == []
    other.append("documents", [Document("water boils")])
    assert one.documents() == [Document("water boils")]


def test_half_a_surrogate_pair_is_mended_and_named(catalog: Catalog) -> None:
    """Model text may hold one; UTF-8 cannot. The record is kept and marked, so that curation leaves it out."""
    odd = episode()
    odd = replace(odd, turns=(replace(odd.turns[0], observation="a\ud800b"), *odd.turns[1:]))

    catalog.append("episodes", [odd, episode(play=1)])

    kept = catalog.episodes()
    assert kept[0].turns[0].observation == "a\ufffdb"
    assert kept[1] == episode(play=1)
    marks = catalog.query("select blemishes from episodes order by play")
    assert marks == [{"blemishes": ["turns[0].observation: 1 lone surrogate"]}, {"blemishes": None}]


def test_numbers_that_are_not_finite_stay_and_are_named(catalog: Catalog) -> None:
    odd = replace(episode(), return_=math.nan)
    catalog.append("episodes", [odd])

    returned = catalog.episodes()[0].return_
    assert returned is not None
    assert math.isnan(returned)
    assert catalog.query("select blemishes from episodes") == [{"blemishes": ["return_: nan"]}]


def test_a_measure_that_json_cannot_hold_is_none_and_named(catalog: Catalog) -> None:
    catalog.append("verdicts", [Judged("env-0", Verdict("gate", Status.PASS, measured={"rate": math.inf}))])
    assert catalog.verdicts() == [Judged("env-0", Verdict("gate", Status.PASS, measured={"rate": None}))]
    assert catalog.query("select blemishes from verdicts") == [{"blemishes": ["verdict.measured.'rate': inf"]}]


def test_a_number_beyond_64_bits_is_refused(catalog: Catalog) -> None:
    odd = replace(episode(), asked=replace(episode().asked, seed=2**70))
    with pytest.raises(Skip, match="episodes"):
        catalog.append("episodes", [odd])
    assert catalog.episodes() == []


def test_records_of_another_table_are_refused(catalog: Catalog) -> None:
    with pytest.raises(TypeError, match="holds Episode"):
        catalog.append("episodes", [Document("text")])


@pytest.mark.parametrize(
    "sql",
    ["copy (select 1) to 'x.csv'", "select 1; select 2", "selec 1", "select * from nowhere", "drop view episodes",
     "select * from read_csv('/etc/passwd')", "select * from read_text('/etc/hostname')"],
)  # fmt: skip
def test_only_one_select_over_the_tables_is_answered(catalog: Catalog, sql: str) -> None:
    """A question can neither change the catalog nor read other files."""
    with pytest.raises(Abort):
        catalog.query(sql)


def test_parameters_are_values_not_sql(catalog: Catalog) -> None:
    catalog.append("documents", [Document("x", title="' or 1=1 --")])
    found = catalog.query("select title from documents where title = ?", ["' or 1=1 --"])
    assert found == [{"title": "' or 1=1 --"}]


def test_an_unknown_column_or_table_is_one_sentence(catalog: Catalog) -> None:
    with pytest.raises(Abort, match="no column 'colour'"):
        catalog.episodes(colour="red")
    with pytest.raises(Abort, match="no table 'plays'"):
        catalog.append("plays", [])


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "catalog").write_text("a file where a folder is needed")
    with pytest.raises(Abort, match="a file stands where a folder is needed"):
        Catalog(tmp_path).append("episodes", [episode()])


def test_unfinished_files_are_not_read(catalog: Catalog) -> None:
    catalog.append("episodes", [episode()])
    (catalog.folder / "episodes" / ".tmp-1-abc").write_bytes(b"PAR1 half")
    catalog.close()
    assert catalog.episodes() == [episode()]


def test_compacting_keeps_rows_and_their_order(catalog: Catalog) -> None:
    stored = [episode(play=i) for i in range(12)]
    for one in stored:
        catalog.append("episodes", [one])
    catalog.append("episodes", stored[:3])
    before = catalog.episodes()

    assert catalog.compact("episodes") == {"episodes": 13}

    assert catalog.episodes() == before == stored
    assert Catalog(catalog.folder.parent).episodes() == stored
    assert catalog.compact() == {}


def test_merged_files_have_filters_for_ids_and_bounded_row_groups(catalog: Catalog) -> None:
    rows = ROW_GROUP_ROWS + 3
    for half in range(2):
        catalog.append(
            "verdicts", [Judged(f"env-{half}-{i}", Verdict("gate", Status.PASS)) for i in range(rows // 2 + 1)]
        )
    catalog.compact("verdicts")

    (path,) = (catalog.folder / "verdicts").glob("*.merged.parquet")
    groups = [pq.read_metadata(path).row_group(i) for i in range(pq.read_metadata(path).num_row_groups)]
    sizes = [group.num_rows for group in groups]
    assert (len(sizes), sum(sizes), max(sizes) <= ROW_GROUP_ROWS) == (2, 2 * (rows // 2 + 1), True)
    filtered = {c.path_in_schema for c in map(groups[0].column, range(groups[0].num_columns)) if c.bloom_filter_offset}
    assert filtered == {"judged_id", "subject_id"}


def test_a_segment_of_another_process_is_seen_at_once_in_a_folder_that_was_at_rest(catalog: Catalog) -> None:
    catalog.append("episodes", [episode(play=0)])
    folder = catalog.folder / "episodes"
    os.utime(folder, (1, 1))
    assert len(catalog.episodes()) == 1
    assert catalog.engine.segments["episodes"].live() == catalog.engine.segments["episodes"].live()

    Catalog(catalog.folder.parent).append("episodes", [episode(play=1)])

    assert len(catalog.episodes()) == 2


def test_replaced_files_go_after_their_grace(catalog: Catalog) -> None:
    for i in range(3):
        catalog.append("episodes", [episode(play=i)])
    catalog.compact()
    assert len(list((catalog.folder / "episodes").glob("*.parquet"))) == 4

    catalog.compact(grace_seconds=0)

    assert len(list((catalog.folder / "episodes").glob("*.parquet"))) == 1
    assert catalog.episodes() == [episode(play=i) for i in range(3)]


def test_a_reader_survives_files_that_went_away(catalog: Catalog) -> None:
    """Its view names files that another process merged and deleted since."""
    for i in range(3):
        catalog.append("episodes", [episode(play=i)])
    reader = Catalog(catalog.folder.parent)
    assert len(reader.episodes()) == 3
    catalog.compact()
    catalog.compact(grace_seconds=0)
    assert len(reader.episodes()) == 3


def test_temporary_files_of_dead_writers_are_swept_when_old(catalog: Catalog) -> None:
    catalog.append("episodes", [episode()])
    old, young = (catalog.folder / "episodes" / name for name in (".tmp-old", ".tmp-young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    catalog.compact()
    assert not old.exists()
    assert young.exists()


def test_many_small_files_are_tidied_while_others_read(tmp_path: Path) -> None:
    catalog, other = Catalog(tmp_path), Catalog(tmp_path)
    for play in range(MANY - 1):
        catalog.append("episodes", [episode(play=play)])
    assert catalog.tidy() == {}
    catalog.append("episodes", [episode(play=MANY)])
    before = other.episodes()
    assert catalog.tidy() == {"episodes": MANY}
    assert len(catalog.engine.segments["episodes"].live()) == 1
    assert catalog.episodes() == other.episodes() == before
    assert catalog.tidy() == {}
