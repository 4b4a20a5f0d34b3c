"""Guides in the words of each engine."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference import guides
from inference.dialects import Dialect, ask
from spade.messages import Guide, Message, Request, Role, Sampling
from tests.inference.asking import CHOICES, DIGITS, SCHEMA, request


def test_a_grammar_lists_choices_as_literals() -> None:
    assert guides.gbnf(Guide(choices=('a"b', "c\\d", "e\nf"))) == r'root ::= "a\"b" | "c\\d" | "e\nf"'


def test_a_grammar_of_digits_leaves_out_empty_ends() -> None:
    assert guides.gbnf(DIGITS) == r'root ::= "\\boxed{" [0-9]{1,3} "}"'
    assert guides.gbnf(Guide(digits=2)) == "root ::= [0-9]{1,2}"


@given(prefix=st.text(max_size=8), suffix=st.text(max_size=8), number=st.integers(0, 999))
def test_what_a_guide_of_digits_means_fits_it(prefix: str, suffix: str, number: int) -> None:
    guide = Guide(digits=3, prefix=prefix, suffix=suffix)

    assert guides.fits(guide, f"{prefix}{number}{suffix}")
    assert not guides.fits(guide, f"{prefix}x{suffix}")
    assert re.fullmatch(guides.regex(guide), f"{prefix}{number}{suffix}")


@given(choice=st.text())
def test_a_grammar_stays_on_one_line_whatever_the_choices(choice: str) -> None:
    """A raw line break inside a literal would end the rule."""
    assert len(guides.gbnf(Guide(choices=(choice,))).splitlines()) <= 1 or not choice.isprintable()
    assert "\n" not in guides.gbnf(Guide(choices=(choice,)))


@pytest.mark.parametrize(
    ("guide", "lead"),
    [
        (Guide(choices=("\\boxed{up}", "\\boxed{down}")), "\\boxed{"),
        (Guide(choices=("LEFT", "LEAP")), ""),
        (Guide(choices=("go west", "go well")), "go "),
        (Guide(choices=("", "a")), ""),
        (Guide(choices=("a!", "a!!")), ""),
        (DIGITS, "\\boxed{"),
        (SCHEMA, ""),
    ],
    ids=str,
)
def test_a_guide_leads_with_what_leaves_no_choice(guide: Guide, lead: str) -> None:
    assert guide.lead == lead


def test_json_without_choice_of_white_space_where_the_engine_can() -> None:
    grammar = ask(request(guide=SCHEMA), "m", Dialect.LLAMA_CPP, llguidance=True).body["grammar"]
    schema = json.loads(grammar.removeprefix("%llguidance {}\nstart: %json "))

    assert schema == {**SCHEMA.schema, "x-guidance": {"whitespace_flexible": False}}
    assert "response_format" in ask(request(guide=SCHEMA), "m", Dialect.LLAMA_CPP).body


@given(choices=st.lists(st.text("ab {}", max_size=4), min_size=1, max_size=4))
def test_lead_and_rest_are_the_guide(choices: list[str]) -> None:
    guide = Guide(choices=tuple(choices))

    assert tuple(guide.lead + rest for rest in guide.after(guide.lead).choices) == guide.choices
    assert not guide.lead or all(guide.after(guide.lead).choices)


def test_the_lead_stands_in_the_prompt_where_the_engine_goes_on_from_it() -> None:
    asked = ask(request(guide=DIGITS), "m", Dialect.LLAMA_CPP)

    assert asked.lead == "\\boxed{"
    assert asked.body["messages"][-1] == {"role": "assistant", "content": "\\boxed{"}
    assert asked.body["grammar"] == 'root ::= [0-9]{1,3} "}"'
    assert ask(request(guide=DIGITS), "m", Dialect.VLLM).body["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("dialect", "guide", "key", "guided"),
    [
        (Dialect.LLAMA_CPP, DIGITS, "grammar", True),
        (Dialect.LLAMA_CPP, CHOICES, "grammar", True),
        (Dialect.LLAMA_CPP, SCHEMA, "response_format", True),
        (Dialect.VLLM, DIGITS, "structured_outputs", True),
        (Dialect.VLLM, CHOICES, "structured_outputs", True),
        (Dialect.VLLM, SCHEMA, "response_format", True),
        (Dialect.OPENAI, SCHEMA, "response_format", True),
        (Dialect.OPENAI, CHOICES, None, False),
        (Dialect.OPENAI, DIGITS, None, False),
    ],
)
def test_each_engine_gets_what_it_enforces(dialect: Dialect, guide: Guide, key: str | None, guided: bool) -> None:
    asked = ask(request(guide=guide), "m", dialect)

    assert asked.guided is guided
    assert {"grammar", "response_format", "structured_outputs"} & asked.body.keys() == ({key} if key else set())


def test_a_grammar_never_goes_beside_tools() -> None:
    """llama.cpp refuses the pair; the reply is then honestly unguided."""
    both = Request((Message("user", "x"),), Sampling(), Role.AGENT, tools=({"type": "function"},), guide=DIGITS)
    asked = ask(both, "m", Dialect.LLAMA_CPP)

    assert not asked.guided
    assert "grammar" not in asked.body


@pytest.mark.parametrize(
    ("dialect", "sampling", "guide", "draws"),
    [
        (Dialect.LLAMA_CPP, Sampling(), None, True),
        (Dialect.LLAMA_CPP, Sampling(), DIGITS, False),
        (Dialect.VLLM, Sampling(), None, False),
        (Dialect.VLLM, Sampling(1.0, 1.0, 0), None, True),
        (Dialect.VLLM, Sampling(1.0, 1.0, 0), DIGITS, False),
    ],
)
def test_log_probabilities_are_known_for_what_they_are(
    dialect: Dialect, sampling: Sampling, guide: Guide | None, draws: bool
) -> None:
    asked = ask(Request((Message("user", "x"),), sampling, Role.AGENT, guide=guide), "m", dialect)

    assert asked.draws is draws
