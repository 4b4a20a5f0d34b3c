import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.blueprints import (
    MECHANICS,
    Blueprint,
    Malformed,
    blueprint_schema,
    blueprint_text,
    mechanics_for,
    parse_blueprint,
)
from spade.skills import GAME_SKILLS, Setting, Skill
from tests.blueprints.strategies import blueprints

GOOD = {
    "mechanic": "guess_number",
    "theme": "garden",
    "title": "The Hidden Seeds",
    "story": "A gardener has hidden seeds in numbered rows.",
    "top": 8,
    "rounds": 2,
    "slack": 1,
    "lean": "low",
    "plan": "halve",
}


@given(blueprints())
def test_what_is_written_is_read_back_equal(blueprint: Blueprint) -> None:
    """A stored reply has to give the same environment again."""
    skill = MECHANICS[blueprint.mechanic].skills[0]

    assert parse_blueprint(blueprint_text(blueprint), skill) == blueprint


@given(blueprints(reach="easy"))
def test_what_is_easy_is_allowed_everywhere(blueprint: Blueprint) -> None:
    skill = MECHANICS[blueprint.mechanic].skills[0]

    assert parse_blueprint(blueprint_text(blueprint), skill, "easy") == blueprint
    assert parse_blueprint(blueprint_text(blueprint), skill) == blueprint


def test_hard_mechanics_and_values_are_not_offered_to_the_smallest_models() -> None:
    story = "You look for seeds in the rows."
    easy = GOOD | {"title": "The Hidden seeds", "story": story}
    skill = Skill.MATHEMATICAL_REASONING

    assert isinstance(parse_blueprint(json.dumps(easy), skill, "easy"), Blueprint)
    hard = parse_blueprint(json.dumps(easy | {"top": 50}), skill, "easy")
    assert isinstance(hard, Malformed)
    assert hard.reason == "top must be one of: 5, 8."
    offered = [m.name for m in mechanics_for(Skill.SPATIAL_REASONING, "easy")]
    assert offered == ["treasure", "machine"]
    assert [m.name for m in mechanics_for(Skill.DATA_RETRIEVAL, "easy")] == ["stock"]


@given(st.text(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_reading_never_raises(text: str) -> None:
    assert isinstance(parse_blueprint(text, Skill.SPATIAL_REASONING), Malformed)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"top": 9}, "top must be one of"),
        ({"top": "8"}, "top must be one of"),
        ({"rounds": 2.0}, "rounds must be one of"),
        ({"slack": True}, "slack must be one of"),
        ({"mechanic": "grid_walk"}, "mechanic must be one of"),
        ({"mechanic": ["guess_number"]}, "mechanic must be one of"),
        ({"title": "lower case"}, "title must match"),
        ({"title": "Two\nLines"}, "title must match"),
        ({"story": 'A "quoted" story is long enough.'}, "story must match"),
        ({"extra": 1}, "keys unknown: 1"),
        ({"plan": None}, "plan must be one of"),
    ],
)
def test_what_the_schema_forbids_is_a_reason(change: dict[str, object], says: str) -> None:
    answer = parse_blueprint(json.dumps(GOOD | change), Skill.MATHEMATICAL_REASONING)

    assert isinstance(answer, Malformed)
    assert says in answer.reason


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not one JSON object"),
        ("[" * 100_000, "at most"),
        ("[" * 4_000, "not one JSON object"),
        ("[1]", "not a JSON object"),
        (json.dumps(GOOD) + json.dumps(GOOD), "not one JSON object"),
        (json.dumps(GOOD)[:-1] + ', "top": 5}', "a key stands twice"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "lean"}), "Keys missing: lean"),
    ],
)
def test_what_is_no_blueprint_is_a_reason(text: str, says: str) -> None:
    answer = parse_blueprint(text, Skill.MATHEMATICAL_REASONING)

    assert isinstance(answer, Malformed)
    assert says in answer.reason


def test_every_game_skill_has_two_mechanics() -> None:
    assert min(len(mechanics_for(skill)) for skill in GAME_SKILLS) >= 2


@pytest.mark.parametrize("skill", [s for s in Skill if mechanics_for(s)])
def test_a_schema_offers_the_mechanics_of_its_skill_only(skill: Skill) -> None:
    offered = [form["properties"]["mechanic"]["const"] for form in blueprint_schema(skill)["anyOf"]]

    assert offered == [m.name for m in MECHANICS.values() if skill in m.skills]


@pytest.mark.parametrize("mechanic", MECHANICS.values(), ids=MECHANICS)
def test_knobs_have_distinct_values_and_names_of_their_own(mechanic: object) -> None:
    knobs = mechanic.knobs  # type: ignore[attr-defined]
    names = [knob.name for knob in knobs]

    assert all(len(set(knob.values)) == len(knob.values) >= 2 for knob in knobs)
    assert not {"mechanic", "theme", "title", "story", "plan", "turns"} & set(names)
    assert mechanic.setting in Setting  # type: ignore[attr-defined]
