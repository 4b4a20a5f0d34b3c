"""Several samples in one row, none seeing another: which go together, so that few places are wasted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Micro:
    """What goes through the model at once: rows of sample numbers, each row at most `width` tokens long."""

    width: int
    rows: tuple[tuple[int, ...], ...]

    @property
    def places(self) -> int:
        """Tokens computed, padding included."""
        return self.width * len(self.rows)


def pack(lengths: Sequence[int], micro_tokens: int) -> Iterator[Micro]:
    """Samples as micro-batches of at most `micro_tokens` places (one row if a sample is longer): longest first, each
    row filled by what fits best. Attention costs the square of a row, so no row is longer than its longest sample."""
    left = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    while left:
        width = lengths[left[0]]
        most = max(1, micro_tokens // max(1, width))
        rows: list[list[int]] = []
        room: list[int] = []
        later: list[int] = []
        for number in left:
            row = _best_fit(room, lengths[number])
            if row is not None:
                rows[row].append(number)
                room[row] -= lengths[number]
            elif len(rows) < most:
                rows.append([number])
                room.append(width - lengths[number])
            else:
                later.append(number)
        yield Micro(width, tuple(tuple(row) for row in rows))
        left = later


def _best_fit(room: Sequence[int], length: int) -> int | None:
    """The row with the least room that still takes `length`."""
    fitting = [(space, row) for row, space in enumerate(room) if space >= length]
    return min(fitting)[1] if fitting else None
