"""What a rented machine says is believed only where it can be true; what is asked of it fits in lines."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.cloud.luggage import libraries, sources
from sandbox.cloud.relay import MAX_LINE
from sandbox.cloud.runs import Record, Run
from sandbox.cloud.wire import Line, Lines, check_replies, portion, read_line
from sandbox.replies import BadFrame
from spade.outcomes import CallOutcome, Reply, Step
from spade.ports import Ask

GOOD = ["ok", "", [["seen", 0.5, False, False]], [], ""]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.text(max_size=80) | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps({"id": 1, "replies": [value]})))
def test_any_line_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(read_line(text), Line)
    except BadFrame:
        return


def test_a_good_line_is_read() -> None:
    read = read_line(json.dumps({"id": 3, "replies": [GOOD]}))

    assert read.number == 3
    assert read.replies == (Reply(CallOutcome.OK, steps=(Step("seen", 0.5, False, False),)),)


@pytest.mark.parametrize(
    "reply",
    [
        ["fine", "", [], [], ""],
        ["ok", 5, [], [], ""],
        ["ok", "x" * 65_537, [], [], ""],
        ["ok", "é" * 40_000, [], [], ""],
        ["ok", "\ud800", [], [], ""],
        ["ok", "", [["", math.nan, False, False]], [], ""],
        ["ok", "", [["", math.inf, False, False]], [], ""],
        ["ok", "", [["", True, False, False]], [], ""],
        ["ok", "", [["", 1.0, 0, False]], [], ""],
        ["ok", "", [["", 1.0, False]], [], ""],
        ["ok", "", [], [1], ""],
        ["ok", "", [], ["x"] * 5000, ""],
        ["ok", "", [], ["x" * 3000] * 400, ""],
        ["ok", "", [], []],
        "ok",
    ],
)
def test_a_reply_that_no_game_gives_is_refused(reply: Any) -> None:
    with pytest.raises(BadFrame):
        read_line(json.dumps({"id": 3, "replies": [reply]}))


def test_details_hold_nothing_that_steers_a_terminal() -> None:
    assert "\x1b" not in read_line(json.dumps({"id": 1, "replies": [["ok", "", [], [], "\x1b[2J"]]})).replies[0].detail


STEP, END = Step("", 0.0, False, False), Step("", 0.0, True, False)


@pytest.mark.parametrize(
    ("asks", "replies"),
    [
        ([Ask("step", actions=("a",))], []),
        ([Ask("step", actions=("a",))], [Reply(CallOutcome.OK)]),
        ([Ask("step", actions=("a",))], [Reply(CallOutcome.OK, steps=(STEP, STEP))]),
        ([Ask("step", actions=("a",))], [Reply(CallOutcome.OK, steps=(STEP,))] * 2),
        ([Ask("steps", actions=("a",))], [Reply(CallOutcome.OK)]),
        ([Ask("steps", actions=("a", "b"))], [Reply(CallOutcome.OK, steps=(END, STEP))]),
        ([Ask("steps", actions=("a",))], [Reply(CallOutcome.OK, steps=(STEP, STEP))]),
        (
            [Ask("steps", actions=("a", "b")), Ask("reset")],
            [Reply(CallOutcome.OK, steps=(STEP,)), Reply(CallOutcome.OK)],
        ),
        ([Ask("reset")], [Reply(CallOutcome.OK, steps=(STEP,))]),
        ([Ask("solution")], [Reply(CallOutcome.OK, observation="x")]),
        ([Ask("reset")] * 2, [Reply(CallOutcome.ENV_TIMEOUT), Reply(CallOutcome.OK)]),
    ],
)
def test_replies_that_do_not_fit_their_calls_are_refused(asks: list[Ask], replies: list[Reply]) -> None:
    with pytest.raises(BadFrame):
        check_replies(asks, replies)


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n", codec="utf-8"), max_size=9)), st.integers(1, 7))
def test_lines_come_out_however_they_were_cut(lines: list[str], size: int) -> None:
    text = "".join(f"{line}\n" for line in lines)
    feeding = Lines()
    got = [line for at in range(0, len(text), size) for line in feeding.feed(text[at : at + size])]

    assert got == lines


def test_a_line_without_end_is_cut_off() -> None:
    feeding = Lines()
    while feeding.size + 65_536 <= MAX_LINE:
        assert feeding.feed("x" * 65_536) == []

    with pytest.raises(BadFrame):
        feeding.feed("x" * 65_536)


actions = st.lists(st.sampled_from(["a", "b" * 70_000, "\ud800"]), max_size=12).map(tuple)
asks = st.lists(
    st.builds(lambda seed: Ask("reset", seed), st.integers(0, 9))
    | st.builds(lambda a: Ask("steps", actions=a), actions),
    min_size=1,
    max_size=5,
)


@settings(max_examples=50)
@given(asks, st.integers(1, 5))
def test_what_is_played_does_not_depend_on_how_it_is_cut(asked: list[Ask], most: int) -> None:
    """A machine may answer as few calls and steps at a time as it likes."""

    def played(most: int) -> tuple[list[Reply], Record]:
        run, record = Run(asked), Record()
        while run.rest:
            chosen = portion(run.rest)
            assert len(json.dumps([ask.actions for ask in chosen])) < MAX_LINE
            got = []
            for ask in chosen:
                steps = tuple(Step(f"{action[:5]}", 0.0, False, False) for action in ask.actions[:most])
                got.append(Reply(CallOutcome.OK, str(ask.seed) if ask.call == "reset" else "", steps))
                if len(steps) < len(ask.actions):
                    break
            check_replies(chosen, got)
            record.note(chosen, got)
            run.take(got)
        return run.replies, record

    (some, record), (all_, whole) = played(most), played(99)
    assert some == all_
    assert [len(reply.steps) for reply in some] == [len(ask.actions) for ask in asked]
    assert record.same_as(whole)


def test_the_relay_and_all_it_needs_travel_without_packages() -> None:
    taken = sources()

    assert {"sandbox/cloud/relay.py", "sandbox/driver/zygote.py", "spade/ports.py"} <= set(taken)
    assert sum(map(len, taken.values())) < 1 << 20
    assert 1 << 20 < len(libraries()) < 1 << 24
