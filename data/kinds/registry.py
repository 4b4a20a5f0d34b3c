"""The kinds by name."""

from data.kinds.atif import Atif
from data.kinds.base import Kind
from data.kinds.chat import Kto, PromptCompletion, Sft
from data.kinds.mixed import SftMixed
from data.kinds.packages import Gymnasium, Harbor, NemoGym, OpenEnv, Verifiers
from data.kinds.pool import Pool
from data.kinds.preferences import Dpo
from data.kinds.tasks import Grpo, Slime, Verl
from data.kinds.tool_use import SftTools
from spade.errors import Abort

_ALL: tuple[Kind, ...] = (
    Sft(), SftTools(), SftMixed(), PromptCompletion(), Dpo(), Kto(), Atif(),
    Grpo(), Slime(), Verl(), NemoGym(), Gymnasium(), OpenEnv(), Verifiers(), Harbor(), Pool(),
)  # fmt: skip
KINDS = {kind.name: kind for kind in _ALL}


def kind_of(name: str) -> Kind:
    """The kind of a name. Raises `Abort` for one that there is not."""
    if name not in KINDS:
        raise Abort(f"there is no dataset kind {name!r}.", f"There are {', '.join(KINDS)}.")
    return KINDS[name]
