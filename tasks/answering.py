"""What a model answered; a request that it refuses counts like a refused reply and never ends a run."""

from spade.errors import Skip
from spade.messages import Completion, Request
from spade.ports import Model
from spade.verdicts import Status, Verdict


async def answer(model: Model, request: Request, gate: str) -> tuple[Completion, tuple[Verdict, ...]]:
    """The reply and no verdict, or an empty reply and the verdict of `gate`: the prompt outgrows the context, say, or
    the endpoint filters it."""
    try:
        return await model.complete(request), ()
    except Skip as error:
        nothing = Completion("", model.name, model.weights, finish_reason="refused")
        return nothing, (Verdict(gate, Status.ERROR, str(error)),)
