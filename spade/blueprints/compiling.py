"""From a blueprint to a whole environment program: a pure function, so equal blueprints give equal code."""

from typing import Any

from spade.blueprints.mechanic import Blueprint
from spade.blueprints.mechanics import MECHANICS
from spade.blueprints.rendering import render_program
from spade.environments import Environment
from spade.skills import Setting, Skill


def compile_blueprint(blueprint: Blueprint, setting: Setting, skill: Skill) -> Environment:
    """The program of a blueprint and the guide for its actions.

    Raises `ValueError` when the mechanic does not serve this setting and skill: `parse_blueprint` never returns one.
    """
    mechanic = MECHANICS[blueprint.mechanic]
    if mechanic.setting is not setting or skill not in mechanic.skills:
        raise ValueError(f"{mechanic.name!r} does not serve {setting} and {skill}")
    values: dict[str, Any] = dict(blueprint.knobs)
    values |= {"title": blueprint.title, "story": blueprint.story, "things": list(blueprint.things)}
    values |= mechanic.derived(blueprint)
    return Environment(
        code=render_program(mechanic.name, values).strip() + "\n",
        setting=setting,
        skill=skill,
        title=blueprint.title,
        mechanic=mechanic.name,
        guide=mechanic.guide(blueprint),
    )
