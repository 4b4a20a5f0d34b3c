"""`spade.ports.Model` over weights in this process: what is played with is what is trained, to the last token."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inference.in_process.choosing import Choosers
from inference.in_process.decoding import Job, run
from inference.in_process.recall import Recall
from inference.in_process.rendering import Renderer
from spade.errors import TooLong
from spade.messages import Completion, Request, Role, Tokens, Usage

AGENT, DESIGNER = "agent", "designer"
LINGER_TURNS = 3
"""The queue is taken when it did not grow for this many turns of the event loop."""


@dataclass(frozen=True, slots=True)
class Size:
    """`batch` calls at once; `context` tokens at most in one; `recalled` tokens whose keys and values stay at hand."""

    batch: int = 64
    context: int = 4096
    recalled: int = 65536


@dataclass(eq=False)
class _Waiting:
    request: Request
    part: str
    done: asyncio.Future[Completion]
    since: float


class TorchEngine:
    """Implements `spade.ports.Model`. `models` maps `agent`, and `designer` if that role has weights of its own, to
    causal language models of transformers. Belongs to one event loop; the computing is done in a thread."""

    def __init__(
        self, models: Mapping[str, Any], tokenizer: Any, *, name: str, weights: str, size: Size = Size()
    ) -> None:
        self.models = {part: model.eval() for part, model in models.items()}
        self.tokenizer, self.name, self.size = tokenizer, name, size
        self._weights = weights
        self._recall = Recall(size.recalled)
        vocabulary = int(self.models[AGENT].get_output_embeddings().weight.shape[0])
        self._renderer = Renderer(tokenizer)
        self._choosers = Choosers(tokenizer, vocabulary)
        eos = self.models[AGENT].generation_config.eos_token_id if self.models[AGENT].generation_config else None
        listed = eos if isinstance(eos, list) else [eos]
        self._stops = frozenset(int(i) for i in (*listed, tokenizer.eos_token_id) if i is not None)
        self._queue: list[_Waiting] = []
        self._worker: asyncio.Task[None] | None = None

    @property
    def weights(self) -> str:
        return self._weights

    async def complete(self, request: Request) -> Completion:
        """See `spade.ports.Model`. Raises `TooLong` when the conversation does not fit the context."""
        part = AGENT if request.role is Role.AGENT or DESIGNER not in self.models else DESIGNER
        waiting = _Waiting(request, part, asyncio.get_running_loop().create_future(), time.monotonic())
        self._queue.append(waiting)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await waiting.done

    def swap(self, states: Mapping[str, Mapping[str, Tensor]], weights: str) -> None:
        """Other weights from now on, under the models' own names. Call it when no completion is under way."""
        for part, state in states.items():
            if part in self.models:
                self.models[part].load_state_dict(state)
        self._recall.clear()
        self._weights = weights

    @torch.no_grad()
    def score(
        self, part: str, ids: Sequence[int], at: Sequence[int], allowed: Sequence[Sequence[int]], temperature: float
    ) -> list[float]:
        """Log-probabilities that these weights serve for given tokens: what a probe compares with the trained ones."""
        model = self.models[part if part in self.models else AGENT]
        logits = model(torch.tensor([list(ids)], device=model.device)).logits[0].double() / temperature
        found = []
        for place, choice in zip(at, allowed, strict=True):
            among = logits[place - 1][list(choice)] if choice else logits[place - 1]
            found.append(float(logits[place - 1, ids[place]] - among.logsumexp(0)))
        return found

    async def _work(self) -> None:
        while self._queue:
            await self._linger()
            part = self._queue[0].part
            taken = [w for w in self._queue if w.part == part][: self.size.batch]
            self._queue = [w for w in self._queue if w not in taken]
            await self._serve(part, taken)

    async def _linger(self) -> None:
        """Wait while calls still come in: plays that were answered together ask together."""
        still, seen = 0, len(self._queue)
        while still < LINGER_TURNS and len(self._queue) < self.size.batch:
            await asyncio.sleep(0.0005)
            still = 0 if len(self._queue) > seen else still + 1
            seen = len(self._queue)

    async def _serve(self, part: str, taken: list[_Waiting]) -> None:
        try:
            jobs = [self._job(w.request) for w in taken]
            fitting = [j for j in jobs if j is not None]
            await asyncio.to_thread(run, self.models[part], fitting, self._recall, part)
        except BaseException as error:
            for waiting in taken:
                if not waiting.done.done():
                    waiting.done.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            if not isinstance(error, Exception):
                raise
            return
        for waiting, job in zip(taken, jobs, strict=True):
            if waiting.done.done():
                continue
            if job is None:
                waiting.done.set_exception(
                    TooLong("The conversation does not fit the engine's context.", "Raise model.context.")
                )
            else:
                waiting.done.set_result(self._completion(waiting, job))

    def _job(self, request: Request) -> Job | None:
        ids = self._renderer.ids([message.wire() for message in request.messages], request.tools)
        if len(ids) + 1 >= self.size.context:
            return None
        chooser = self._choosers.of(request.guide) if request.guide else None
        return Job(ids, request.sampling, self._stops, chooser)

    def _completion(self, waiting: _Waiting, job: Job) -> Completion:
        output = job.output[:-1] if job.output and job.output[-1] in self._stops else job.output
        plain = job.sampling.temperature > 0
        allowed = tuple(job.allowed) if job.chooser is not None and job.allowed is not None else None
        tokens = Tokens(
            tuple(job.prompt), tuple(job.output), tuple(job.logprobs), "sampling" if plain else "model", allowed
        )
        return Completion(
            text=self.tokenizer.decode(output, skip_special_tokens=False),
            model=self.name,
            weights=self._weights,
            finish_reason=job.ended,
            usage=Usage(len(job.prompt), len(job.output)),
            tokens=tokens,
            guided=job.chooser is not None,
            seconds=time.monotonic() - waiting.since,
        )
