"""The report as a person gets it: safe, self-contained, complete, honest about what is missing, the same every time."""

from pathlib import Path

import pytest

from data.catalog import Catalog
from data.report import write_report
from data.report.cycles import cycle_lines, cycle_report
from spade.errors import Abort
from spade.skills import Skill
from tests.report.reading import Page, dead_links, pages
from tests.report.worlds import World

HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror='alert(2)'>\"'>{{ 7 * 7 }}{% raw %}&lt;\u202e\x00"
SHOWN = HOSTILE.replace("\u202e", "\u27e8U+202E\u27e9").replace("\x00", "\u2400")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Three cycles: a full one, one in which nothing was accepted, and one that is not finished."""
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    world = World(catalog)
    world.cycle(0)
    world.cycle(1, accepting=False)
    world.cycle(2, finished=False)
    return catalog


@pytest.fixture(scope="module")
def report(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(catalog, tmp_path_factory.mktemp("report")).parent


def _cycle_page(catalog: Catalog, report: Path, number: int) -> Page:
    return Page.read(report / "cycles" / cycle_lines(catalog)[number].cycle_id / "index.html")


def test_every_page_is_well_formed_and_every_link_leads_somewhere(report: Path) -> None:
    read = pages(report)

    assert len(read) == 1 + 3 + 2 * 7 + 1 + 8 + 1
    assert {path.name: page.troubles for path, page in read.items() if page.troubles} == {}
    assert dead_links(report) == []


def test_every_page_stands_alone_and_forbids_scripts(report: Path) -> None:
    """No script, font, image or style sheet from anywhere; the policy holds even where an escape were forgotten."""
    for path, page in pages(report).items():
        tags = {tag for tag, _ in page.elements}
        policies = [a.get("content") or "" for t, a in page.elements if t == "meta" and "http-equiv" in a]

        assert not tags & {"script", "link", "img", "iframe", "object", "form"}, path
        assert "default-src 'none'" in "".join(policies), path
        assert not [a for _, a in page.elements if any(name.startswith("on") or name == "src" for name in a)], path
        assert not [link for link in page.links() if ":" in link], path


def test_text_of_models_and_documents_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    """Every field a model, a document or an endpoint fills holds an attack; it appears as text on the page."""
    catalog = Catalog(tmp_path)
    World(catalog, say=HOSTILE, plays=2).cycle(0, slots=4)

    index = write_report(catalog, tmp_path / "report")

    for path, page in pages(index.parent).items():
        assert not {tag for tag, _ in page.elements} & {"script", "img"}, path
        assert not [a for _, a in page.elements if any(name.startswith("on") for name in a)], path
        assert page.troubles == [], path
        assert "\x00" not in page.text, path
        assert "\u202e" not in page.text, path
        assert SHOWN.split("{{")[0] in page.text, path
    environment = next(page for path, page in pages(index.parent).items() if path.name.startswith("env-"))
    assert environment.text.count(SHOWN) >= 25


def test_the_index_counts_what_the_cycles_made(report: Path) -> None:
    words = Page.read(report / "index.html").words

    assert "14 environments from 24 slots" in words
    assert "Newest: cycle 2" in words
    assert words.count("not finished") >= 2


def test_missing_numbers_stand_with_their_reason(catalog: Catalog, report: Path) -> None:
    """Slot 3's hint was refused and most plays of slot 7 failed: neither has a regret, and neither shows a zero."""
    made = {e.slot_id: e for e in cycle_report(catalog, cycle_lines(catalog)[0]).environments}
    slots = {s.index: s for s in cycle_report(catalog, cycle_lines(catalog)[0]).slots}
    words = _cycle_page(catalog, report, 0).words
    folder = report / "cycles" / cycle_lines(catalog)[0].cycle_id
    unhinted = Page.read(folder / f"{made[slots[2].slot_id].env_id}.html").words
    unmeasured = Page.read(folder / f"{made[slots[6].slot_id].env_id}.html").words

    assert "1 of 7 environments without a score: only 2 of 8 plain plays were measured." in words
    assert "1 of 7 environments without a regret: no hinted arm: no hint passed its gates." in words
    assert "no hint passed its gates; the last was stopped by hint.no_leak" in words
    assert "20 of 104 plays not measured (12 model_error, 8 env_error)" in words
    assert "There is no hinted arm and no regret" in unhinted
    assert "Designer reward (blend) only 2 of 8 plain plays were measured" in unmeasured
    assert "the endpoint closed the connection four times" in unmeasured


def test_unknown_cost_is_not_free(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    World(catalog, price=False, plays=2).cycle(0, slots=3)

    words = Page.read(write_report(catalog, tmp_path / "report")).words

    assert "cost unknown: no price" in words
    assert "no price is known for 19 of 19 attempts, hints and episodes" in words
    assert "cost 0" not in words


def test_a_cycle_that_made_nothing_says_so(catalog: Catalog, report: Path) -> None:
    """A model that never writes a valid environment ends with a funnel that says so."""
    page = _cycle_page(catalog, report, 1)

    assert "No environment was accepted: all 48 attempts for 8 slots failed a gate" in page.words
    assert "No environment was accepted in this cycle, so nothing was played or scored." in page.words
    assert "Nothing was played." in page.words
    assert "slots planned 8" in page.words
    assert "%" not in page.words


def test_an_empty_catalog_says_what_to_do(tmp_path: Path) -> None:
    index = write_report(Catalog(tmp_path), tmp_path / "report")

    assert "spade run" in Page.read(index).words


def test_an_environments_page_tells_its_whole_chain(catalog: Catalog, report: Path) -> None:
    line = cycle_lines(catalog)[0]
    environment = cycle_report(catalog, line).environments[3]
    page = Page.read(report / "cycles" / line.cycle_id / f"{environment.env_id}.html")
    [slot] = catalog.slots(slot_id=environment.slot_id)
    [document] = catalog.documents(document_id=slot.document_id)
    attempts = catalog.attempts(slot_id=slot.slot_id)
    episodes = catalog.episodes(env_id=environment.env_id, cycle_id=line.cycle_id)
    ids = [slot.slot_id, document.document_id, *(a.attempt_id for a in attempts), *(a.prompt_id for a in attempts)]

    assert len(attempts) == 2
    assert document.title in page.text
    assert document.text[:1000] in page.text
    assert Skill(slot.skill).words in page.text
    assert all(v.message in page.text for a in attempts for v in a.verdicts)
    assert catalog.environments(env_id=environment.env_id)[0].code.replace("\n", "") in page.text
    assert all(str(e.asked.seed) in page.text for e in episodes)
    assert [i for i in ids if i not in page.text] == []
    assert page.words.count("Turn 1 ") == 2


def test_the_same_records_give_the_same_files(tmp_path: Path) -> None:
    """Byte for byte, from another catalog and written over an older report."""
    trees = []
    for name in ("one", "two"):
        catalog = Catalog(tmp_path / name)
        World(catalog, plays=4).cycle(0, slots=5)
        out = tmp_path / name / "report"
        write_report(catalog, out)
        write_report(catalog, out)
        trees.append({p.relative_to(out): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()})

    assert trees[0] == trees[1]
    assert len(trees[0]) == 2 + 5


def test_pages_can_be_written_for_some_cycles_only(catalog: Catalog, tmp_path: Path) -> None:
    """A long run adds the pages of its newest cycle; the index still counts all, and links only to what is there."""
    lines = cycle_lines(catalog)

    write_report(catalog, tmp_path, cycles=[lines[0].cycle_id])

    assert [p.name for p in (tmp_path / "cycles").iterdir()] == [lines[0].cycle_id]
    assert dead_links(tmp_path) == []
    words = Page.read(tmp_path / "index.html").words
    assert "Cycle 1 (no page written)" in words
    write_report(catalog, tmp_path, cycles=[lines[2].cycle_id])
    assert dead_links(tmp_path) == []
    assert len(list((tmp_path / "cycles").iterdir())) == 2


def test_an_unknown_cycle_and_a_blocked_folder_are_refused(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(Abort, match="no cycle 'cycle-nowhere'"):
        write_report(catalog, tmp_path, cycles=["cycle-nowhere"])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Abort, match="cannot write"):
        write_report(catalog, tmp_path / "file" / "report")
