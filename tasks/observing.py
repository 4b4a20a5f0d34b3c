"""Who looks on: several at once, and a model and a sandbox that tell what they are asked."""

import time
from collections.abc import Mapping
from typing import Any

from spade.errors import SpadeError
from spade.messages import Completion, Request
from spade.ports import IsolationLevel, Limits, Model, Opened, Sandbox
from tasks.factory import Watcher


class Several:
    """Every watcher sees every event."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        for watcher in self._watchers:
            watcher.saw(stage, subject, **facts)


class WatchedModel:
    """Implements `spade.ports.Model`; tells of each call: `asked` when it begins, `answered` when it ends."""

    def __init__(self, model: Model, watcher: Watcher) -> None:
        self._model, self._watcher = model, watcher

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def weights(self) -> str:
        return self._model.weights

    async def complete(self, request: Request) -> Completion:
        role, started, ended = request.role.value, time.monotonic(), "cancelled"
        tokens = (0, 0)
        self._watcher.saw("asked", role)
        try:
            completion = await self._model.complete(request)
            ended, tokens = "ok", (completion.usage.prompt_tokens, completion.usage.completion_tokens)
            return completion
        except SpadeError as error:
            ended = type(error).__name__.lower()
            raise
        finally:
            self._watcher.saw("answered", role, ended=ended, seconds=time.monotonic() - started, tokens=tokens)


class WatchedSandbox:
    """Implements `spade.ports.Sandbox`; tells of each program that is started."""

    def __init__(self, sandbox: Sandbox, watcher: Watcher) -> None:
        self._sandbox, self._watcher = sandbox, watcher

    @property
    def level(self) -> IsolationLevel:
        return self._sandbox.level

    def report(self) -> Mapping[str, Any]:
        return self._sandbox.report()

    async def open(self, program: str, limits: Limits, *, hash_seed: int = 0) -> Opened:
        started = time.monotonic()
        opened = await self._sandbox.open(program, limits, hash_seed=hash_seed)
        self._watcher.saw("started", opened.reply.outcome.value, seconds=time.monotonic() - started)
        return opened
