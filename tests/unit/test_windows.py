"""A window climbs when nine of ten of the latest plays at its top were won, and never for another reason."""

import pytest

from spade.windows import Climbing, Window, window_after

RULE = Climbing(last=10, width=3)


def plays(level: int, won: int, lost: int = 0) -> list[tuple[int, bool]]:
    """Lost plays first."""
    return [(level, False)] * lost + [(level, True)] * won


@pytest.mark.parametrize(
    ("seen", "window"),
    [
        ([], Window(0, 0)),
        (plays(0, won=9), Window(0, 0)),  # too few plays
        (plays(0, won=10), Window(0, 1)),
        (plays(0, won=9, lost=1), Window(0, 1)),  # nine of ten are enough
        (plays(0, won=8, lost=2), Window(0, 0)),
        (plays(0, won=9, lost=40), Window(0, 1)),  # what lies longer back does not count
        (plays(0, won=10) + plays(0, won=50), Window(0, 1)),  # below the top nothing counts
        (plays(0, won=10) + plays(1, won=9), Window(0, 1)),  # and after a rise it counts anew
        (plays(0, won=10) + plays(1, won=10) + plays(2, won=10), Window(1, 3)),  # the lowest level closes
        ([each for level in range(9) for each in plays(level, won=10)], Window(3, 5)),  # the top is the last
    ],
)
def test_a_window_after_plays(seen: list[tuple[int, bool]], window: Window) -> None:
    assert window_after(seen, top=5, rule=RULE) == window


def test_a_single_level_stays() -> None:
    assert window_after(plays(0, won=100), top=0, rule=RULE) == Window(0, 0)
