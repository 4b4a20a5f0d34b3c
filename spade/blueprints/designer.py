"""Blueprint mode behind the designer port."""

from dataclasses import dataclass

from spade.attempts import Prompt
from spade.blueprints.compiling import compile_blueprint
from spade.blueprints.mechanic import Blueprint, Reach
from spade.blueprints.prompting import blueprint_hint_guide, blueprint_hint_prompt, blueprint_prompt
from spade.blueprints.schema import Malformed, blueprint_schema, parse_blueprint
from spade.designing import Brief, Draft
from spade.environments import Environment
from spade.errors import Skip
from spade.messages import Guide
from spade.slots import Slot
from spade.verdicts import Status, Verdict


@dataclass(frozen=True, slots=True)
class BlueprintDesigner:
    """Asks for blueprints under a schema, compiles them, and asks for hints among those that are true of them."""

    reach: Reach = "all"

    def prompt(self, brief: Brief) -> Prompt:
        return blueprint_prompt(brief, self.reach, self._refused(brief))

    def guide(self, brief: Brief) -> Guide:
        return Guide(schema=blueprint_schema(brief.slot.skill, self.reach, self._refused(brief)))

    def _refused(self, brief: Brief) -> list[Blueprint]:
        read = [parse_blueprint(reply, brief.slot.skill, self.reach) for reply in brief.refused]
        return [blueprint for blueprint in read if isinstance(blueprint, Blueprint)]

    def read(self, text: str, slot: Slot) -> Draft:
        blueprint = parse_blueprint(text, slot.skill, self.reach)
        if isinstance(blueprint, Malformed):
            return Draft(problem=Verdict("form.parse", Status.FAIL, blueprint.reason))
        return Draft(environment=compile_blueprint(blueprint, slot.setting, slot.skill))

    def hint_prompt(self, environment: Environment, design: str, rejected: Verdict | None) -> Prompt:
        return blueprint_hint_prompt(_blueprint_of(environment, design), rejected)

    def hint_guide(self, environment: Environment, design: str) -> Guide:
        return blueprint_hint_guide(_blueprint_of(environment, design))

    def read_hint(self, text: str) -> str:
        return " ".join(text.split())


def _blueprint_of(environment: Environment, design: str) -> Blueprint:
    blueprint = parse_blueprint(design, environment.skill)
    if isinstance(blueprint, Malformed):
        raise Skip(f"The reply behind {environment.env_id} is no blueprint: {blueprint.reason}")
    return blueprint
