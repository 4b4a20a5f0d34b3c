"""Whoever opens a dataset reads sentences: each expectation has one, and columns say what they are."""

import pytest

from data.kinds.registry import KINDS
from data.suites import SUITES
from data.wording import MEANINGS, expected

EXPECTATIONS = {f"{e.type} {e.arguments}": e for suite in SUITES.values() for e in suite}


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_every_expectation_is_a_sentence(name: str) -> None:
    expectation = EXPECTATIONS[name]
    said = expected(expectation.type, expectation.arguments)
    assert "_values_" not in said
    assert "value_set" not in said
    assert "{'" not in said
    assert said.startswith(expectation.arguments.get("column", said))


def test_an_unknown_expectation_is_still_told() -> None:
    assert expected("expect_column_to_be_odd", {"column": "turns"}).startswith("turns column to be odd")


def test_a_person_reads_what_is_meant() -> None:
    assert expected("expect_column_values_to_be_in_set", {"column": "findings", "value_set": [0]}) == (
        "findings is 0 in every row (secrets and personal data that the scan found in the row or its document)"
    )
    between = {"column": "turns", "min_value": 1.0, "max_value": 25.0}
    assert expected("expect_column_values_to_be_between", between) == "turns lies between 1 and 25 (the agent's turns)"


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"verl", "slime", "nemo-gym"}))
def test_every_column_of_ours_says_what_it_is(kind: str) -> None:
    """The three others have columns that their tools define."""
    assert [name for name in KINDS[kind].schema.names if name not in MEANINGS] == []
