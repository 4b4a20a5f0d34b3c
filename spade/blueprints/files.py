"""Blueprints as files: `{"skill": ..., "blueprint": {...}}`, the form of `examples/environments/blueprint_*.json`."""

import json

from spade.blueprints.compiling import compile_blueprint
from spade.blueprints.mechanics import MECHANICS
from spade.blueprints.schema import Malformed, parse_blueprint
from spade.environments import Environment
from spade.errors import Skip
from spade.skills import Skill


def environment_of_file(text: str) -> Environment:
    """The environment of a blueprint file. Raises `Skip` with the reason when the file is none."""
    try:
        value = json.loads(text)
        skill, design = Skill(value["skill"]), json.dumps(value["blueprint"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Skip(f"This is no blueprint file: {type(error).__name__}: {error}.") from error
    blueprint = parse_blueprint(design, skill)
    if isinstance(blueprint, Malformed):
        raise Skip(f"This is no blueprint: {blueprint.reason}")
    return compile_blueprint(blueprint, MECHANICS[blueprint.mechanic].setting, skill)
