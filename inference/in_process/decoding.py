"""Many completions at once under one set of weights. Where a guide leaves one choice, nothing is computed for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from inference.in_process.choosing import MOST_RECORDED, Chooser
from inference.in_process.drawing import draw
from inference.in_process.recall import Read, Recall
from spade.messages import Sampling


@dataclass(eq=False)
class Job:
    """One completion in the making. `pending`: ids that the model has not read yet."""

    prompt: list[int]
    sampling: Sampling
    stops: frozenset[int]
    chooser: Chooser | None = None
    output: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    allowed: list[tuple[int, ...]] | None = field(default_factory=list)
    ended: str = ""
    read: int = 0

    def __post_init__(self) -> None:
        self._random = Random(self.sampling.seed) if self.sampling.seed is not None else Random()
        self._follow()

    @property
    def ids(self) -> list[int]:
        return self.prompt + self.output

    @property
    def pending(self) -> list[int]:
        return self.ids[self.read :]

    def take(self, logits: Any) -> None:
        """Draw the next token from [V] logits, and whatever the guide then leaves no choice about."""
        choices = self.chooser.allowed() if self.chooser else None
        token, logprob = draw(logits, choices, self.sampling, self._random.random())
        self._add(token, logprob, () if choices is None else tuple(choices))
        self._follow()

    def _follow(self) -> None:
        while self.chooser is not None and not self.ended:
            choices = self.chooser.allowed()
            if len(choices) > 1:
                return
            if not choices:
                self.ended = "stop"
                return
            self._add(choices[0], 0.0, (choices[0],))

    def _add(self, token: int, logprob: float, choices: tuple[int, ...]) -> None:
        self.output.append(token)
        self.logprobs.append(logprob)
        if len(choices) > MOST_RECORDED:
            self.allowed = None
        if self.allowed is not None:
            self.allowed.append(choices)
        if self.chooser is not None:
            self.chooser.take(token)
        if token in self.stops:
            self.ended = "stop"
        elif len(self.output) >= self.sampling.max_tokens:
            self.ended = "length"


@torch.no_grad()
def run(model: Any, jobs: Sequence[Job], recall: Recall, part: str) -> None:
    """Bring every job to its end."""
    active = [job for job in jobs if not job.ended]
    known = [recall.longest(part, job.ids) for job in active]
    for job, read in zip(active, known, strict=True):
        job.read = read.length if read else 0
    batch = Batch.of(known, model) if active else None
    while batch is not None and active:
        logits = batch.forward(model, [job.pending for job in active])
        for job, row in zip(active, logits, strict=True):
            job.read = len(job.ids)
            job.take(row)
        ended = [place for place, job in enumerate(active) if job.ended]
        for place, read in zip(ended, batch.rows(ended), strict=True):
            recall.keep(part, active[place].ids[: active[place].read], read)
        going = [place for place, job in enumerate(active) if not job.ended]
        active = [active[place] for place in going]
        batch.narrow(going)


@dataclass(eq=False)
class Batch:
    """Keys and values of B sequences side by side. `there`: [B, C], which of the C columns hold a token of theirs."""

    layers: list[tuple[Tensor, Tensor]] | None
    there: Tensor
    lengths: list[int]

    @classmethod
    def of(cls, known: Sequence[Read | None], model: Any) -> "Batch":
        """Sequences that were read before are laid to the right, behind empty columns."""
        longest = max((read.length for read in known if read), default=0)
        lengths = [read.length if read else 0 for read in known]
        device = model.device
        there = torch.zeros(len(known), longest, dtype=torch.bool, device=device)
        if not longest:
            return cls(None, there, lengths)
        some = next(read for read in known if read)
        layers = []
        for number, (keys, _) in enumerate(some.layers):
            pair = (keys.new_zeros(len(known), keys.shape[0], longest, keys.shape[2]) for _ in range(2))
            both = tuple(pair)
            for row, read in enumerate(known):
                if read is not None:
                    both[0][row, :, longest - read.length :] = read.layers[number][0]
                    both[1][row, :, longest - read.length :] = read.layers[number][1]
            layers.append((both[0], both[1]))
        for row, length in enumerate(lengths):
            there[row, longest - length :] = True
        return cls(layers, there, lengths)

    def forward(self, model: Any, pending: Sequence[Sequence[int]]) -> Any:
        """[B, V] logits after the last pending token of each row, as float64 on the host."""
        from transformers import DynamicCache

        width = max(map(len, pending))
        ids = torch.zeros(len(pending), width, dtype=torch.long)
        new = torch.zeros(len(pending), width, dtype=torch.bool)
        positions = torch.zeros(len(pending), width, dtype=torch.long)
        for row, tokens in enumerate(pending):
            ids[row, width - len(tokens) :] = torch.tensor(tokens)
            new[row, width - len(tokens) :] = True
            first = self.lengths[row]
            positions[row, width - len(tokens) :] = torch.arange(first, first + len(tokens))
        device = self.there.device
        new = new.to(device)
        causal = torch.ones(width, width, dtype=torch.bool, device=device).tril()
        own = (new[:, None, :] & causal) | torch.eye(width, dtype=torch.bool, device=device)
        before = self.there[:, None, :].expand(-1, width, -1)
        cache = DynamicCache(self.layers) if self.layers is not None else DynamicCache()
        out = model.get_decoder()(
            input_ids=ids.to(device),
            position_ids=positions.to(device),
            attention_mask=torch.cat([before, own], dim=-1)[:, None],
            cache=cache,
            use_cache=True,
        )
        self.layers = [(layer.keys, layer.values) for layer in cache.layers]
        self.there = torch.cat([self.there, new], dim=-1)
        self.lengths = [length + len(tokens) for length, tokens in zip(self.lengths, pending, strict=True)]
        logits = model.get_output_embeddings()(out.last_hidden_state[:, -1]).float()
        softcap = getattr(model.config, "final_logit_softcapping", None)
        if softcap is not None:
            logits = torch.tanh(logits / softcap) * softcap
        return logits.cpu().numpy().astype(np.float64)

    def rows(self, places: Sequence[int]) -> list[Read]:
        """What some sequences leave behind, each without the columns that are not its own."""
        if not places:
            return []
        assert self.layers is not None
        lengths = [self.lengths[place] for place in places]
        index = torch.tensor(places, device=self.there.device)
        own_first = self.there[index].byte().argsort(dim=1, descending=True, stable=True)[:, : max(lengths)]
        layers = [(_taken(keys[index], own_first), _taken(values[index], own_first)) for keys, values in self.layers]
        return [
            Read(length, tuple((k[row, :, :length].clone(), v[row, :, :length].clone()) for k, v in layers))
            for row, length in enumerate(lengths)
        ]

    def narrow(self, places: Sequence[int]) -> None:
        """Go on with some of the rows."""
        if len(places) == len(self.lengths) or not places or self.layers is None:
            return
        index = torch.tensor(places, device=self.there.device)
        self.layers = [(k[index], v[index]) for k, v in self.layers]
        self.there = self.there[index]
        self.lengths = [self.lengths[place] for place in places]


def _taken(of: Tensor, columns: Tensor) -> Tensor:
    """[B, H, L, D]: of each row of [B, H, C, D] the columns named in [B, L]."""
    return of.gather(2, columns[:, None, :, None].expand(-1, of.shape[1], -1, of.shape[3]))
