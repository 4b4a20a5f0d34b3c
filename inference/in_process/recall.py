"""Keys and values of what was read before, so that a conversation's next turn is read from where the last one ended."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Read:
    """What one sequence left behind: one (keys, values) pair a layer, [heads, length, size] each."""

    length: int
    layers: tuple[tuple[Tensor, Tensor], ...]


class Recall:
    """The latest sequences, at most `tokens` of them together. Cleared whenever the weights change."""

    def __init__(self, tokens: int) -> None:
        self._most, self._held = tokens, 0
        self._known: OrderedDict[tuple[str, int], Read] = OrderedDict()

    def longest(self, part: str, ids: Sequence[int]) -> Read | None:
        """The longest known beginning of `ids`, shorter than all of it: the last token must still be read."""
        marks = list(prefix_marks(ids[:-1]))
        for mark in reversed(marks):
            read = self._known.get((part, mark))
            if read is not None:
                self._known.move_to_end((part, mark))
                return read
        return None

    def keep(self, part: str, ids: Sequence[int], read: Read) -> None:
        *_, mark = prefix_marks(ids)
        old = self._known.pop((part, mark), None)
        self._held += read.length - (old.length if old else 0)
        self._known[part, mark] = read
        while self._held > self._most and self._known:
            _, gone = self._known.popitem(last=False)
            self._held -= gone.length

    def clear(self) -> None:
        self._known.clear()
        self._held = 0


def prefix_marks(ids: Sequence[int]) -> list[int]:
    """One hash for each beginning of `ids`, the shortest first."""
    marks, mark = [], 0
    for token in ids:
        mark = hash((mark, token))
        marks.append(mark)
    return marks
