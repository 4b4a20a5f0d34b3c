import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.allowed import is_allowed_import
from spade.blueprints import MECHANICS, Blueprint, blueprint_hint_guide, blueprint_hints, compile_blueprint
from spade.blueprints.rendering import literal, render_program
from spade.boxes import last_box
from spade.skills import Setting, Skill
from tests.blueprints.strategies import blueprints

MAX_PROGRAM = 65_536


def _compiled(blueprint: Blueprint):  # type: ignore[no-untyped-def]
    mechanic = MECHANICS[blueprint.mechanic]
    return compile_blueprint(blueprint, mechanic.setting, mechanic.skills[0])


@given(blueprints())
def test_every_blueprint_compiles_to_a_small_program_with_one_environment(blueprint: Blueprint) -> None:
    environment = _compiled(blueprint)
    tree = ast.parse(environment.code)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    imports = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]

    assert len(environment.code.encode()) < MAX_PROGRAM
    assert [c.name.endswith("Env") for c in classes] == [True]
    assert all(map(is_allowed_import, imports))
    assert _compiled(blueprint) == environment


@given(blueprints())
def test_each_action_of_a_guide_stands_in_a_box_of_its_own(blueprint: Blueprint) -> None:
    guide = _compiled(blueprint).guide

    assert guide is not None
    assert len(set(guide.choices)) == len(guide.choices) >= 2
    assert all(last_box(choice) for choice in guide.choices)


@given(blueprints())
def test_hints_are_short_and_hold_no_number(blueprint: Blueprint) -> None:
    """A number in a hint might be the answer of some instance."""
    hints = blueprint_hints(blueprint)

    assert blueprint_hint_guide(blueprint).choices == hints
    assert len(set(hints)) == len(hints) >= 2
    assert all(len(hint.split()) <= 60 and not any(c.isdigit() for c in hint) for hint in hints)


@given(st.text(), st.lists(st.text() | st.integers() | st.booleans()))
def test_a_literal_reads_back_equal_and_is_plain_ascii(text: str, values: list[object]) -> None:
    """Whatever a model writes can only become a string."""
    written = literal({text: values})

    assert written.isascii()
    assert ast.literal_eval(written) == {text: values}


@pytest.mark.parametrize("hostile", ['"""', "'\n__import__('os')\n'", "{{ 7 * 7 }}", "{title}", "\\", "\u2028", "\x00"])
def test_hostile_text_stays_text(hostile: str) -> None:
    """The schema would refuse these; the compiler does not rely on it."""
    blueprint = Blueprint(
        "guess_number", (("top", 8), ("rounds", 2), ("slack", 1), ("lean", "low")), "garden", hostile, hostile, "halve"
    )
    tree = ast.parse(_compiled(blueprint).code)
    texts = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]

    assert ast.literal_eval(texts["TITLE"]) == hostile
    assert ast.literal_eval(texts["STORY"]) == hostile
    assert len([n for n in ast.walk(tree) if isinstance(n, ast.Import)]) == 1


def test_what_has_no_literal_is_refused() -> None:
    with pytest.raises(TypeError, match="no literal"):
        render_program("guess_number", {"title": object(), "story": "", "turns": 3, "top": 5, "rounds": 2, "lean": ""})


def test_a_mechanic_is_not_compiled_for_a_skill_it_does_not_serve() -> None:
    blueprint = Blueprint(
        "guess_number", (("top", 8), ("rounds", 2), ("slack", 1), ("lean", "low")), "garden", "A", "B", "halve"
    )

    with pytest.raises(ValueError, match="does not serve"):
        compile_blueprint(blueprint, Setting.GAMES, Skill.SPATIAL_REASONING)
