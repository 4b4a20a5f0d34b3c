"""Micro-batches as tensors: tokens, places, and who may look at whom."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.packing import Micro
from training.samples import Sample


@dataclass(frozen=True, slots=True)
class Rows:
    """One micro-batch of B rows, T wide, with N trained tokens.

    `ids`, `positions`: [B, T]; `visible`: [B, 1, T, T], true where a token (third axis) may look. For the trained
    tokens, [N] each: `places` in the flattened rows of the token before it, `targets`, `owners` (which sample),
    `logprobs`, `advantages`, `temperatures`, `late`. `choices`: [N, K] ids left by the guide, filled up with -1; a row
    of only -1 allows the whole vocabulary; None when no token was guided.
    """

    ids: Tensor
    positions: Tensor
    visible: Tensor
    places: Tensor
    targets: Tensor
    owners: Tensor
    logprobs: Tensor
    advantages: Tensor
    temperatures: Tensor
    late: Tensor
    choices: Tensor | None

    @property
    def tokens(self) -> int:
        return int(self.targets.numel())


def rows_of(micro: Micro, samples: Sequence[Sample], device: torch.device) -> Rows:
    """Tensors of one micro-batch. A packed sample starts at position 0 and sees itself alone."""
    shape = (len(micro.rows), micro.width)
    ids, positions = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    segments = torch.full(shape, -1, dtype=torch.long)
    places: list[int] = []
    order: list[int] = []
    for row, numbers in enumerate(micro.rows):
        start = 0
        for segment, number in enumerate(numbers):
            sample = samples[number]
            end = start + len(sample.ids)
            ids[row, start:end] = torch.tensor(sample.ids)
            positions[row, start:end] = torch.arange(end - start)
            segments[row, start:end] = segment
            places += [row * micro.width + start + at - 1 for at in sample.at]
            order.append(number)
            start = end
    chosen = [samples[number] for number in order]
    return Rows(
        ids=ids.to(device),
        positions=positions.to(device),
        visible=visibility(segments).to(device),
        places=torch.tensor(places, device=device),
        targets=torch.tensor([s.ids[at] for s in chosen for at in s.at], device=device),
        owners=torch.tensor([n for n, s in zip(order, chosen, strict=True) for _ in s.at], device=device),
        logprobs=torch.tensor([v for s in chosen for v in s.logprobs], dtype=torch.float32, device=device),
        advantages=_each(chosen, [s.advantage for s in chosen], device),
        temperatures=_each(chosen, [s.temperature for s in chosen], device),
        late=_each(chosen, [float(s.late) for s in chosen], device).bool(),
        choices=_choices([c for s in chosen for c in s.allowed], device),
    )


def visibility(segments: Tensor) -> Tensor:
    """[B, 1, T, T] from segment numbers [B, T]: earlier tokens of the same segment; padding (-1) sees itself only."""
    width = segments.shape[1]
    causal = torch.ones(width, width, dtype=torch.bool).tril()
    same = (segments[:, :, None] == segments[:, None, :]) & (segments[:, :, None] >= 0)
    return ((same & causal) | torch.eye(width, dtype=torch.bool))[:, None]


def _each(samples: Sequence[Sample], values: Sequence[float], device: torch.device) -> Tensor:
    """One value a sample, repeated for each of its trained tokens."""
    repeats = torch.tensor([s.tokens for s in samples])
    return torch.tensor(values, dtype=torch.float32).repeat_interleave(repeats).to(device)


def _choices(allowed: Sequence[tuple[int, ...]], device: torch.device) -> Tensor | None:
    most = max(map(len, allowed), default=0)
    if not most:
        return None
    filled = torch.full((len(allowed), most), -1, dtype=torch.long)
    for row, choice in enumerate(allowed):
        filled[row, : len(choice)] = torch.tensor(choice, dtype=torch.long)
    return filled.to(device)
