import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.boxes import action_of, last_box, without_thoughts


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"\boxed{5}", "5"),
        (r"first \boxed{1}, then \boxed{ 2 }", "2"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"<think>\boxed{9}</think> \boxed{3}", "3"),
        (r"\boxed{3} <think>or \boxed{9}", "3"),
        (r"so \boxed{9} no</think> \boxed{4}", "4"),
        (r"\boxed{4} and an unclosed \boxed{7", "4"),
        (r"\boxed{}", ""),
        ("5", None),
        (r"\boxed{7", None),
    ],
)
def test_the_last_complete_box_outside_thoughts_counts(text: str, box: str | None) -> None:
    assert last_box(text) == box


def test_without_a_box_the_program_gets_the_whole_reply() -> None:
    """It must answer politely with the format reminder, so it has to see what was said."""
    assert action_of("  I would say 5. ") == "I would say 5."


@given(st.text(alphabet="\\boxed{}<think>/ 1ab", max_size=80))
def test_no_text_breaks_the_parser(text: str) -> None:
    assert isinstance(action_of(text), str)
    assert "<think>" not in without_thoughts(text)


@given(st.text(alphabet="ab{}1 ", max_size=20).filter(lambda t: _balanced(t)))
def test_what_goes_into_a_box_comes_out(content: str) -> None:
    assert last_box(f"I play \\boxed{{{content}}}.") == content.strip()


def _balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return False
    return depth == 0
