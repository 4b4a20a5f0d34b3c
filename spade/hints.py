"""The hint: how to reason, never the answer. Its record and its leak check (docs/method.md)."""

from dataclasses import dataclass

from spade.identity import content_id
from spade.messages import Completion
from spade.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Hint:
    """One hint written for an accepted environment. `rejected_by` names the gate that refused it, or is empty."""

    env_id: str
    number: int
    text: str
    prompt_id: str
    completion: Completion
    verdicts: tuple[Verdict, ...] = ()
    rejected_by: str = ""

    @property
    def hint_id(self) -> str:
        return content_id("hint", self.env_id, self.number, self.text)

    @property
    def accepted(self) -> bool:
        return not self.rejected_by
