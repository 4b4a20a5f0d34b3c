import json
from typing import Any

import pytest

from spade.gates.facts import Play, Player
from spade.gates.tool_facts import unrevealed
from spade.outcomes import Step


def declared(tool: str, **kinds: str) -> str:
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    return json.dumps({"type": "function", "function": {"name": tool, "parameters": {"properties": properties}}})


TOOLS = "\n".join(
    [
        declared("find", name="string"),
        declared("book", chip="integer", hours="integer", price="integer"),
        declared("cancel", chip="integer"),
    ]
)
GREETING = f"You run a clinic.\n\n<tools>\n{TOOLS}\n</tools>\n\nRequest 1 of 3: Book Milo."


def values(shown: str, **arguments: Any) -> list[object]:
    """What `book` needs that nothing has shown, after a first result."""
    sent = ('{"name": "find", "arguments": {"name": "Milo"}}', json.dumps({"name": "book", "arguments": arguments}))
    steps = (Step(shown, 0.0, False, False), Step("booked", 0.0, False, False))
    return [value.value for value in unrevealed(Play(Player.ORACLE, 1, 3, sent, GREETING, steps))]


@pytest.mark.parametrize(
    ("shown", "arguments", "expected"),
    [
        ("Milo: chip 4711", {"chip": 4711}, []),
        ("Milo is known", {"chip": 4711}, [4711]),
        ("Milo: chip 47110", {"chip": 4711}, [4711]),
        ("Milo is known", {"chip": 17}, []),  # small: it may be an amount
        ("Milo is known", {"price": 4711}, []),  # a key of one tool alone: it may have been computed
        ("Milo is known", {"chip": True}, []),
    ],
)
def test_an_identifier_must_have_been_shown_and_an_amount_need_not(
    shown: str, arguments: dict[str, Any], expected: list[object]
) -> None:
    assert values(shown, **arguments) == expected
