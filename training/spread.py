"""Several processes, one update: weights lie sharded over them, and each computes its share of the micro-batches.

What every process must do alike (fetching sharded weights, adding gradients up) is collective: a process that leaves
one out hangs the others. So all process equally many micro-batches, and agree before one of them gives up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from training.packing import Micro

if TYPE_CHECKING:
    from training.policy import Policy


@dataclass(frozen=True, slots=True)
class Spread:
    """Which process this is, of how many."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes what all have made."""
        return self.rank == 0

    def share(self, micros: Iterable[Micro]) -> Iterator[tuple[Micro, float]]:
        """This process's micro-batches, and what each one's loss is multiplied by.

        Gradients are averaged over the processes; a factor of `world` makes the sum of them. Where there are too few
        for all, the last one fills up with a factor of 0.
        """
        listed = list(micros)
        for turn in range(-(-len(listed) // self.world)):
            number = turn * self.world + self.rank
            inside = number < len(listed)
            yield listed[number if inside else -1], float(self.world) if inside else 0.0

    def any(self, flag: bool, device: torch.device) -> bool:
        """Whether it is so in any process."""
        if self.world == 1:
            return flag
        told = torch.tensor(float(flag), device=device)
        torch.distributed.all_reduce(told, op=torch.distributed.ReduceOp.MAX)
        return bool(told)

    def gathered(self, value: Any) -> list[Any]:
        """Every process's value, in order."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        torch.distributed.all_gather_object(values, value)
        return values


def spread_now() -> Spread:
    """As this process was started: one of several under `accelerate launch`, or alone."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Spread(torch.distributed.get_rank(), torch.distributed.get_world_size())
    return Spread()


def shard(policy: "Policy") -> None:
    """Shard every part's weights over the processes (FSDP2 of torch), layer by layer. Does nothing in one that is
    alone. Optimisers must be made afterwards."""
    spread = spread_now()
    if spread.world == 1:
        return
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    for scorer in {id(scorer): scorer for scorer in policy.parts.values()}.values():
        mesh = init_device_mesh(next(scorer.parameters()).device.type, (spread.world,))
        for layer in scorer.bare.get_decoder().layers:
            fully_shard(layer, mesh=mesh)
        # Resharded as the layers are: else a forward pass under other weights (those of a KL) would leave them behind.
        fully_shard(scorer, mesh=mesh, reshard_after_forward=True)


def whole(value: Tensor) -> Tensor:
    """A sharded tensor put together again, in every process; any other as it is."""
    from torch.distributed.tensor import DTensor

    return value.full_tensor() if isinstance(value, DTensor) else value


def spread_like(value: Tensor, parameter: Tensor) -> Tensor:
    """A whole tensor sharded as `parameter` is; as it is where that is whole."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if not isinstance(parameter, DTensor):
        return value
    return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)
