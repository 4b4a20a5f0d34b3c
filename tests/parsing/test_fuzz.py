"""No reply breaks a parser, however long one looks for one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade.boxes import action_of
from spade.messages import Completion, ToolCall
from spade.parsing import parse_program
from spade.tool_calls import Call, action_of_reply, of_completion, parse_tools

MANY = 10_000
TAGS = "<think> </think> <tool_call> </tool_call> <function=f> </function> <parameter=a> </parameter> [TOOL_CALLS]"
MARKS = "``` ~~~ f\" \" ''' { } \\boxed{ [ ] , \\ \\u # done decline NaN 1e999 é 日本"
LINES = ["```python\n", "class AEnv:\n", "    pass\n", "\n", "\n\n", "\r\n", " ", "\ud800", "\x00", "\u202e"]
CALLS = ['{"name": "f", "arguments": ', '{"a": [1, {"b": null}]}', "9" * 5000, "(" * 200]
PIECES = st.sampled_from([*TAGS.split(), *MARKS.split(), *LINES, *CALLS])
REPLIES = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=24).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=6), JSON, max_size=4)


def everything_reads(reply: str) -> None:
    parsed = parse_program(reply)
    assert bool(parsed.code) != bool(parsed.reason)
    assert isinstance(action_of(reply), str)
    found = parse_tools(reply)
    assert all(found.problems)
    assert isinstance(action_of_reply(found, reply), str)


@given(REPLIES)
def test_no_reply_breaks_a_parser(reply: str) -> None:
    everything_reads(reply)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(REPLIES)
def test_no_reply_of_ten_thousand_breaks_a_parser(reply: str) -> None:
    everything_reads(reply)


@given(st.lists(st.tuples(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), ARGUMENTS), min_size=1, max_size=3))
def test_every_call_that_is_written_is_read(calls: list[tuple[str, dict[str, object]]]) -> None:
    """Nested arguments come back whole, all calls and their order too."""
    written = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
    expected = tuple(Call(name, arguments) for name, arguments in calls)

    assert parse_tools("\n".join(f"<tool_call>\n{text}\n</tool_call>" for text in written)).parts == expected
    assert parse_tools(f"[{', '.join(written)}]").parts == expected


@given(ARGUMENTS)
def test_calls_that_the_engine_read_are_kept_with_the_answer(arguments: dict[str, object]) -> None:
    call = ToolCall("call_1", "find", json.dumps(arguments))
    reply = of_completion(Completion("I look it up.\n\ndone", "m", "w", tool_calls=(call,)))

    assert [type(part).__name__ for part in reply.parts] == ["Call", "Answer"]
    assert reply.calls[0].arguments == arguments
    assert reply.answer == "done"


def test_prose_beside_the_engines_calls_is_no_answer() -> None:
    reply = of_completion(Completion("I look it up.", "m", "w", tool_calls=(ToolCall("c", "find", "{"),)))

    assert reply.answer is None
    assert len(reply.problems) == 1


def test_one_action_carries_all_parts_in_order() -> None:
    reply = parse_tools('<tool_call>{"name": "f", "arguments": {"a": {"b": 1}}}</tool_call>\ndone')

    assert json.loads(action_of_reply(reply, "")) == [{"name": "f", "arguments": {"a": {"b": 1}}}, "done"]
    assert action_of_reply(parse_tools("done"), "done") == "done"


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>",
        "<function=",
        "<parameter=a>",
        "\\boxed{",
        "```json\n{",
        "{",
        "[{",
        '{"name": ',
        "```\n",
        "<think>",
    ],
)
@pytest.mark.timeout(20)
def test_a_reply_of_a_hundred_thousand_characters_is_read_in_one_pass(piece: str) -> None:
    """Quadratic reading would take minutes on these."""
    text = piece * (100_000 // len(piece))
    everything_reads(text)
    everything_reads(f"```python\nclass AEnv:\n    x = f'{text}'\n```")
