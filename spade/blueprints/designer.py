"""Blueprint mode behind the designer port."""

from collections.abc import Sequence
from dataclasses import dataclass

from spade.attempts import Prompt
from spade.blueprints.compiling import compile_blueprint
from spade.blueprints.mechanic import Blueprint, Reach
from spade.blueprints.prompting import blueprint_hint_guide, blueprint_hint_prompt, blueprint_prompt
from spade.blueprints.schema import Malformed, blueprint_schema, parse_blueprint
from spade.designing import Draft, Rejection
from spade.documents import Document
from spade.environments import Environment
from spade.errors import Skip
from spade.lessons import Lessons
from spade.messages import Guide
from spade.slots import Slot
from spade.verdicts import Status, Verdict


@dataclass(frozen=True, slots=True)
class BlueprintDesigner:
    """Asks for blueprints under a schema, compiles them, and asks for hints among those that are true of them."""

    reach: Reach = "all"

    def prompt(
        self,
        slot: Slot,
        document: Document | None,
        lessons: Lessons,
        rejected: Rejection | None,
        refused: Sequence[str] = (),
    ) -> Prompt:
        return blueprint_prompt(slot, document, lessons, rejected, self.reach, self._blueprints(slot, refused))

    def guide(self, slot: Slot, refused: Sequence[str] = ()) -> Guide:
        return Guide(schema=blueprint_schema(slot.skill, self.reach, self._blueprints(slot, refused)))

    def _blueprints(self, slot: Slot, replies: Sequence[str]) -> list[Blueprint]:
        read = [parse_blueprint(reply, slot.skill, self.reach) for reply in replies]
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
