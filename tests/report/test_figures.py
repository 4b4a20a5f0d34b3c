"""What the pages are made of: figures that agree with the cycle's summary, and marks that stand where they should."""

import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.catalog import Catalog
from data.report import figures
from data.report.asking import ask_for
from data.report.cycles import cycle_lines, cycle_report
from data.report.environments import Ended, Pair, telling
from data.report.findings import attempts_by_end, environment_funnel, episode_funnel, skill_lines
from data.report.plots import RATES, REGRETS, Axis, Series, _ends, chart
from spade.episodes import Arm
from spade.quality import PlainPlay
from tests.data.records import episode, plain_plays, turn
from tests.report.worlds import World


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    world = World(catalog)
    world.cycle(0)
    world.cycle(1, slots=5)
    return catalog


def test_the_figures_are_those_of_the_stored_summary(catalog: Catalog) -> None:
    """Two ways to the same numbers: SQL over the tables here, Python over the records there."""
    for line, summary in zip(cycle_lines(catalog), catalog.summaries(), strict=True):
        report = cycle_report(catalog, line)
        same = (
            (line.slots, line.attempts, line.accepted, line.first_try),
            (line.asked, line.measured, line.plain_wins, line.hinted_wins),
            (line.prompt_tokens, line.completion_tokens, line.exported, line.seconds),
        )

        assert same == (
            (summary.slots, summary.attempts, summary.accepted, summary.first_try),
            (summary.episodes, summary.measured, summary.wins_plain, summary.wins_hinted),
            (summary.prompt_tokens, summary.completion_tokens, summary.rows, summary.seconds),
        )
        assert line.regret == pytest.approx(summary.regret)
        assert line.cost == pytest.approx(summary.cost)
        assert line.plain_rate == pytest.approx(summary.win_rate_plain)
        assert {(c.name, c.n) for c in report.rejections} == set(summary.rejections)
        assert {(o.outcome, o.plain + o.hinted) for o in report.outcomes} == set(summary.outcomes)


def test_plays_are_asked_for_as_the_records_say(tmp_path: Path) -> None:
    lost = replace(episode(play=8), return_=None, won=None)
    silent = replace(episode(play=9), turns=(replace(turn(), tokens=None),))
    plays = [episode(play=1, turns=3), episode(play=2, arm=Arm.HINTED), lost, silent, episode(cycle="cycle-1")]
    catalog = Catalog(tmp_path)
    catalog.append("episodes", [*plays, episode(cycle="cycle-2")])

    found = [play for cycle in ("cycle-0", "cycle-1") for play in ask_for(PlainPlay, catalog, "plain", cycle)]

    assert [replace(p, said=list(p.said)) for p in found] == plain_plays(plays)
    assert [list(p.said) for p in found] == [[4, 4, 4], [None], [4, 4]]


def test_the_funnel_and_the_skills_add_up(catalog: Catalog) -> None:
    report = cycle_report(catalog, cycle_lines(catalog)[0])
    skills = skill_lines(report)

    assert [c.n for c in environment_funnel(report)][:5] == [8, 7, 6, 7, 6]
    assert episode_funnel(report)[0].n == report.line.asked == 104
    assert sum(c.n for c in attempts_by_end(report)) == report.line.attempts
    assert sum(s.slots for s in skills) == 8
    assert sum(s.accepted for s in skills) == 7
    assert sum(s.plain.wins for s in skills) == report.line.plain_wins
    assert sum(s.in_band for s in skills) == report.line.in_band


def test_time_and_cost_are_told_by_stage(catalog: Catalog) -> None:
    report = cycle_report(catalog, cycle_lines(catalog)[0])
    stages = {stage.stage: stage for stage in report.stages}

    assert list(stages) == ["design", "gates", "hint", "play, plain arm", "play, hinted arm"]
    assert stages["design"].n == report.line.attempts
    assert stages["design"].median == 4.2
    assert stages["gates"].cost is None
    assert sum(s.cost or 0.0 for s in report.stages) == pytest.approx(report.line.cost)
    assert sum(s.unpriced for s in report.stages) == 0


def test_an_environment_scored_twice_is_counted_once(tmp_path: Path) -> None:
    """A second designer-reward variant is a second row of scores, not a second environment."""
    catalog = Catalog(tmp_path)
    cycle = World(catalog, plays=4).cycle(0, slots=3)
    before = cycle_lines(catalog)
    scores = catalog.scores(cycle_id=cycle.cycle_id)
    catalog.append("scores", [type(s)(s.cycle_id, s.env_id, s.plain, s.hinted, "regret", s.regret) for s in scores])

    assert cycle_lines(catalog) == before
    assert len(cycle_report(catalog, before[0]).environments) == 3


@given(st.text())
def test_visible_text_hides_nothing(text: str) -> None:
    """No control or reordering character is left, and what is left can be written to a file."""
    shown = figures.visible(text)

    shown.encode("utf-8")
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")


def test_visible_text_keeps_what_is_harmless() -> None:
    assert figures.visible("a\tb\r\nc é 漢 \U0001f600") == "a\tb\nc é 漢 \U0001f600"
    assert figures.visible("\x1b[31m\ud800") == "\u241b[31m?"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (figures.signed(-0.5), "\u22120.50"),
        (figures.signed(0.125), "+0.12"),
        (figures.signed(-0.001), "0.00"),
        (figures.signed(None), ""),
        (figures.real(None), ""),
        (figures.percent(0.0), "0\u00a0%"),
        (figures.percent(None), ""),
        (figures.money(0.0), "0.00"),
        (figures.money(0.0012345), "0.00123"),
        (figures.money(1234.5), "1,234.50"),
        (figures.duration(0.0123), "12\u00a0ms"),
        (figures.duration(9.96), "10\u00a0s"),
        (figures.duration(59.7), "1\u00a0min 00\u00a0s"),
        (figures.duration(3600.0), "1\u00a0h 00\u00a0min"),
        (figures.duration(None), ""),
        (figures.plural(1, "slot"), "1 slot"),
        (figures.plural(1200, "slot"), "1,200 slots"),
        (figures.file_name("../../etc/passwd"), "_.._etc_passwd.html"),
    ],
)
def test_numbers_read_well(shown: str, wanted: str) -> None:
    assert shown == wanted


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_scales_keep_order_and_stay_inside(a: float, b: float) -> None:
    for scale in (RATES, REGRETS):
        low, high = sorted((a, b))

        assert scale.start <= scale(low) <= scale(high) <= scale.end


def test_a_missing_value_is_a_gap_in_the_chart() -> None:
    drawn = chart("Win rate", [0, 1, 2, 3, 4], [Series("plain", [0.2, 0.4, None, 0.5, None])])
    [line] = drawn.lines

    assert len(line.dots) == 3
    assert len(line.strokes) == 1
    assert [dot.label for dot in line.dots] == ["cycle 0: 0.2", "cycle 1: 0.4", "cycle 3: 0.5"]


def test_signed_charts_reach_as_far_as_their_values() -> None:
    drawn = chart("Mean regret", [0, 1], [Series("regret", [0.1, -0.3])], Axis.SIGNED)

    assert [label for _, label in drawn.levels] == ["\u22120.5", "0", "0.5"]
    assert [label for _, label in chart("Mean regret", [7], [Series("regret", [None])], Axis.SIGNED).levels][
        2
    ] == "0.25"


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=9), st.sampled_from(Axis))
def test_every_axis_reaches_around_all_its_values(values: list[float | None], axis: Axis) -> None:
    """Whatever the scale: a value drawn at the edge of its box would say something that was not measured."""
    if axis is Axis.SHARE or (axis is Axis.AMOUNT and any(v is not None and v < 0 for v in values)):
        return
    low, high = _ends(axis, Series("a", values).reached)
    assert low < high
    slack = 1e-6 * (high - low)
    assert all(low - slack <= v <= high + slack for v in values if v is not None)


def test_bars_say_how_sure_a_value_is_and_count_for_the_axis() -> None:
    [line] = chart("Ratings", [0, 1], [Series("agent", [20.0, 30.0], [5.0, None])], Axis.SCALE).lines
    assert line.dots[0].label == "cycle 0: 20 ± 5"
    assert len(line.dots[0].ends) == 2
    assert line.dots[1].ends == ()
    assert [label for _, label in chart("R", [0], [Series("a", [20.0], [5.0])], Axis.SCALE).levels] == [
        "14",
        "20",
        "26",
    ]


def _ended(name: str, return_: float | None) -> Ended:
    return Ended(name, "completed", return_, None if return_ is None else return_ == 1.0, 3, "")


def test_the_transcripts_shown_are_those_that_tell_most() -> None:
    """First choice: a seed that only the hinted arm won. Without a difference: a win and a loss of the plain arm."""
    equal = Pair(0, 0, 5, _ended("p0", 1.0), _ended("h0", 1.0))
    worse = Pair(0, 1, 6, _ended("p1", 1.0), _ended("h1", 0.0))
    better = Pair(0, 2, 7, _ended("p2", 0.0), _ended("h2", 1.0))
    lost = Pair(0, 3, 8, _ended("p3", 0.0), None)
    failed = Pair(0, 4, 9, _ended("p4", None), _ended("h4", None))

    assert telling([equal, worse, better]) == ("p2", "h2")
    assert telling([equal, worse]) == ("p1", "h1")
    assert telling([equal, lost, failed]) == ("p0", "p3")
    assert telling([failed]) == ("p4",)
    assert telling([]) == ()
