"""The kinds by name."""

from data.kinds.base import Kind
from data.kinds.chat import Kto, PromptCompletion, Sft
from data.kinds.preferences import Dpo
from data.kinds.tasks import Grpo, Slime, Verl
from spade.errors import Abort

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (Sft(), PromptCompletion(), Dpo(), Kto(), Grpo(), Verl(), Slime())
}


def kind_of(name: str) -> Kind:
    """The kind of a name. Raises `Abort` for one that there is not."""
    if name not in KINDS:
        raise Abort(f"there is no dataset kind {name!r}.", f"There are {', '.join(KINDS)}.")
    return KINDS[name]
