"""Blueprint mode: a model too small to write programs fills a form, and our code compiles the form to a program.

The designer chooses a mechanic, its knobs, a theme, a title, a story and what the hint is about, decoded under a JSON
schema (`blueprint_schema`). `parse_blueprint` reads the reply strictly; `compile_blueprint` turns it into a whole
environment program with a solver, and a guide for the agent's actions. So one set of weights designs, hints and
plays, and every choice is the model's and can be trained. Text of the model enters a program as a string literal only.

`BlueprintDesigner` is the mode behind the `spade.designing.Designer` port; `docs/blueprints.md` lists the mechanics.
"""

from spade.blueprints.compiling import compile_blueprint
from spade.blueprints.designer import BlueprintDesigner
from spade.blueprints.mechanic import Blueprint, Knob, Mechanic
from spade.blueprints.mechanics import MECHANICS, mechanics_for
from spade.blueprints.prompting import (
    blueprint_hint_guide,
    blueprint_hint_prompt,
    blueprint_hints,
    blueprint_prompt,
)
from spade.blueprints.schema import Malformed, blueprint_schema, blueprint_text, parse_blueprint

__all__ = [
    "MECHANICS",
    "Blueprint",
    "BlueprintDesigner",
    "Knob",
    "Malformed",
    "Mechanic",
    "blueprint_hint_guide",
    "blueprint_hint_prompt",
    "blueprint_hints",
    "blueprint_prompt",
    "blueprint_schema",
    "blueprint_text",
    "compile_blueprint",
    "mechanics_for",
    "parse_blueprint",
]
