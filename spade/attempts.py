"""One try at a slot: the link from a prompt to an environment, or to the reason why there is none."""

from dataclasses import dataclass

from spade.identity import content_id
from spade.messages import Completion, Message, Role, Sampling
from spade.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was asked. `template` and `template_hash` name the text it was rendered from."""

    role: Role
    messages: tuple[Message, ...]
    template: str
    template_hash: str

    @property
    def prompt_id(self) -> str:
        return content_id("prompt", self.role, self.template_hash, [m.wire() for m in self.messages])


@dataclass(frozen=True, slots=True)
class Attempt:
    """One completion for a slot. `number` counts from 0; `env_id` is empty when the reply held no program.

    `rejected_by` is the id of the gate that stopped it, empty when accepted; `repairs` names what the parser mended;
    `examples` are the remembered environments that the prompt showed whole.
    """

    slot_id: str
    number: int
    prompt_id: str
    completion: Completion
    sampling: Sampling
    env_id: str = ""
    repairs: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    rejected_by: str = ""
    examples: tuple[str, ...] = ()

    @property
    def attempt_id(self) -> str:
        return content_id("attempt", self.slot_id, self.number)

    @property
    def accepted(self) -> bool:
        return bool(self.env_id) and not self.rejected_by
