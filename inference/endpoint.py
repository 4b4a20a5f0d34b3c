"""The one client for every OpenAI-compatible endpoint: vLLM, llama.cpp's server, hosted ones."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from inference import dialects, faults, guides, templates
from inference.breaker import Breaker, Tolerance
from inference.dialects import Asked, Dialect
from inference.faults import Again
from inference.replies import Choice
from inference.turns import Turns
from inference.wire import Reply, Wire
from spade.messages import Completion, Request

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How a failed call is tried again: `retries` times, after a random pause below `first * 2^n` seconds, at most
    `longest`; never sooner than the endpoint asked for (up to `longest`)."""

    retries: int = 4
    first: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, asked_for: float) -> float:
        """Seconds before the retry that follows attempt 0, 1, ..."""
        ceiling = min(self.longest, self.first * 2.0**attempt)
        return min(self.longest, max(asked_for, random.uniform(ceiling / 2, ceiling)))


@dataclass(frozen=True, slots=True)
class Served:
    """A model at an endpoint. `prices`: of a million prompt and completion tokens. `draws`: the log-probabilities this
    engine returns are always those of the distribution it draws from. `llguidance`: it takes that library's
    grammars."""

    name: str
    weights: str
    dialect: Dialect = Dialect.OPENAI
    prices: tuple[float, float] | None = None
    draws: bool = False
    llguidance: bool = False


@dataclass
class Endpoint:
    """Implements `spade.ports.Model` over HTTP. At most `concurrency` calls are under way, fewer while the
    endpoint says that is too many; each has `seconds` to answer, waiting for its turn excluded. Belongs to one event
    loop."""

    wire: Wire
    served: Served
    concurrency: int = 16
    seconds: float = 300.0
    patience: Patience = field(default_factory=Patience)
    tolerance: Tolerance = field(default_factory=Tolerance)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        self._turns = Turns(self.concurrency)
        self._breaker = Breaker(self.tolerance)
        self._refused: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.served.name

    @property
    def weights(self) -> str:
        return self.served.weights

    async def complete(self, request: Request) -> Completion:
        """One completion (see `spade.ports.Model`); what was wrong comes with the endpoint's address and a remedy."""
        attempt = 0
        while True:
            try:
                return await self._in_turn(request)
            except Again as fault:
                if attempt >= self.patience.retries:
                    raise
                log.debug("Attempt %d failed: %s", attempt + 1, fault)
                await self.sleep(self.patience.pause(attempt, fault.after))
                attempt += 1

    async def _in_turn(self, request: Request) -> Completion:
        async with self._turns.turn(request.role) as turn, self._breaker.call(self.wire.shown):
            try:
                completion = await self._once(request)
            except Again as fault:
                turn.crowded = fault.crowded
                raise
            turn.done = True
            return completion

    async def aclose(self) -> None:
        await self.wire.aclose()

    async def _once(self, request: Request) -> Completion:
        started = time.monotonic()
        asked = self._ask(request)
        reply = await self._post(asked)
        while reply.status == 400 and self._learn(reply, asked):
            asked = self._ask(request)
            reply = await self._post(asked)
        if reply.status != 200:
            raise faults.from_status(reply.status, reply.headers, reply.text, self.wire.shown, self.name)
        choice = Choice(reply.body, self.wire.shown)
        rendered = (
            await templates.prompt_ids(self.wire, asked.body) if self.served.dialect is Dialect.LLAMA_CPP else None
        )
        tokens = choice.tokens(self.served.dialect, asked, rendered)
        return Completion(
            text=asked.lead + choice.text.removeprefix(asked.lead),
            model=self.name,
            weights=self.weights,
            finish_reason=choice.finish_reason,
            reasoning=choice.reasoning,
            tool_calls=choice.tool_calls,
            usage=choice.usage(tokens, self.served.prices),
            tokens=tokens,
            guided=asked.guided and self._kept(request, choice),
            seconds=time.monotonic() - started,
        )

    def _ask(self, request: Request) -> Asked:
        served = self.served
        return dialects.ask(
            request,
            served.name,
            served.dialect,
            draws=served.draws,
            llguidance=served.llguidance,
            refused=self._refused,
        )

    async def _post(self, asked: Asked) -> Reply:
        return await self.wire.exchange("POST", self.wire.within("chat/completions"), asked.body, seconds=self.seconds)

    def _learn(self, reply: Reply, asked: Asked) -> bool:
        """Remember a parameter this endpoint refuses, so that it is asked again without. False: none of those."""
        name = faults.refused_parameter(reply.text)
        if self.served.dialect is not Dialect.OPENAI or name not in dialects.OPTIONAL & asked.body.keys():
            return False
        log.warning("%s does not take %r; going on without it.", self.wire.shown, name)
        self._refused |= {name}
        return True

    def _kept(self, request: Request, choice: Choice) -> bool:
        """Whether a guide was enforced. Engines we know enforce it; of others the reply must show it."""
        known = self.served.dialect is not Dialect.OPENAI
        return known or (request.guide is not None and guides.fits(request.guide, choice.text))
