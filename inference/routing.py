"""Which model plays which role: one for all (self-play), different ones, or several designers in rotation."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from inference.opening import open_model
from spade.identity import canonical, digest
from spade.messages import Completion, Request, Role
from spade.ports import Model
from spade.settings import ModelSettings


class Router:
    """Implements `spade.ports.Model` over several. A role without models of its own is played by `default`, whose name
    and weights are the router's; what answered stands in each completion."""

    def __init__(self, default: Model, roles: Mapping[Role, Sequence[Model]] | None = None) -> None:
        self._default = default
        self._roles = {role: tuple(models) for role, models in (roles or {}).items() if models}

    @property
    def name(self) -> str:
        return self._default.name

    @property
    def weights(self) -> str:
        return self._default.weights

    def model_for(self, request: Request) -> Model:
        """Of several models the request itself picks one, so that the pick depends on what is made and not on when: the
        same request always goes to the same model."""
        models = self._roles.get(request.role, (self._default,))
        if len(models) == 1:
            return models[0]
        said = [message.wire() for message in request.messages]
        return models[int(digest(canonical([said, request.sampling.seed])), 16) % len(models)]

    async def complete(self, request: Request) -> Completion:
        return await self.model_for(request).complete(request)


@asynccontextmanager
async def open_router(
    default: ModelSettings, roles: Mapping[Role, Sequence[ModelSettings]], home: Path
) -> AsyncIterator[Router]:
    """Every model that some role names, opened once however many roles share it. Raises what `open_model` raises."""
    async with AsyncExitStack() as stack:
        opened: dict[ModelSettings, Model] = {}
        for settings in (default, *(one for several in roles.values() for one in several)):
            if settings not in opened:
                opened[settings] = await stack.enter_async_context(open_model(settings, home))
        yield Router(opened[default], {role: [opened[one] for one in several] for role, several in roles.items()})
