"""A refused blueprint is not offered to its slot again, and something always is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.blueprints import MECHANICS, Blueprint, blueprint_schema
from spade.blueprints.mechanic import Reach
from spade.blueprints.offering import offers
from spade.skills import Skill
from tests.blueprints.strategies import blueprints

REACHES: tuple[Reach, ...] = ("easy", "all")


def offered(blueprint: Blueprint, skill: Skill, reach: Reach, refused: list[Blueprint]) -> bool:
    found = [o for o in offers(skill, reach, refused) if o.mechanic.name == blueprint.mechanic]
    return any(all(blueprint[c.knob.name] in c.values for c in offer.choices) for offer in found)


def of_one_skill(reach: Reach) -> st.SearchStrategy[tuple[Skill, list[Blueprint]]]:
    served = [s for s in Skill if any(s in m.skills for m in MECHANICS.values())]
    return st.sampled_from(served).flatmap(
        lambda skill: st.tuples(
            st.just(skill),
            st.lists(blueprints(reach=reach).filter(lambda b: skill in MECHANICS[b.mechanic].skills), max_size=12),
        )
    )


@pytest.mark.parametrize("reach", REACHES)
def test_the_first_refusal_takes_the_game_off_the_list_while_there_is_another(reach: Reach) -> None:
    first = offers(Skill.SPATIAL_REASONING, reach)[0].mechanic
    refused = Blueprint(
        first.name, tuple((k.name, k.offered(reach)[0]) for k in first.knobs), "garden", "", "", next(iter(first.plans))
    )

    left = offers(Skill.SPATIAL_REASONING, reach, [refused])

    assert first.name not in [o.mechanic.name for o in left]
    assert [o.mechanic.name for o in left] == [o.mechanic.name for o in offers(Skill.SPATIAL_REASONING, reach)][1:]


def test_the_last_game_loses_values_of_its_widest_knob_until_one_is_left() -> None:
    stock = MECHANICS["stock"]
    widest = max(stock.knobs, key=lambda knob: len(knob.values))
    refused = Blueprint(
        "stock", tuple((k.name, k.values[0]) for k in stock.knobs), "garden", "", "", next(iter(stock.plans))
    )

    (left,) = offers(Skill.DATA_RETRIEVAL, "all", [refused])

    values = {choice.knob.name: choice.values for choice in left.choices}
    assert values == {k.name: k.values for k in stock.knobs} | {widest.name: widest.values[1:]}


@given(st.data(), st.sampled_from(REACHES))
def test_something_is_always_offered_and_the_last_refused_is_not(data: st.DataObject, reach: Reach) -> None:
    skill, refused = data.draw(of_one_skill(reach))

    left = offers(skill, reach, refused)

    assert left
    assert all(choice.values for offer in left for choice in offer.choices)
    before = [choice.values for offer in offers(skill, reach, refused[:-1]) for choice in offer.choices]
    if refused and any(len(values) > 1 for values in before):
        assert not offered(refused[-1], skill, reach, refused)


def test_the_schema_of_a_retry_offers_what_is_left() -> None:
    first, *others = offers(Skill.LOGICAL_DEDUCTION, "easy")
    knobs = tuple((c.knob.name, c.values[0]) for c in first.choices)
    refused = Blueprint(first.mechanic.name, knobs, "garden", "", "", next(iter(first.mechanic.plans)))

    forms = blueprint_schema(Skill.LOGICAL_DEDUCTION, "easy", [refused])["anyOf"]

    assert [f["properties"]["mechanic"]["const"] for f in forms] == [o.mechanic.name for o in others]
    assert first.mechanic.name not in json.dumps(forms)
