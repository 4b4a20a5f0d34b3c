"""Raw replies of all shapes with what the parsers must make of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from spade.boxes import action_of
from spade.parsing import parse_program
from spade.tool_calls import Answer, Call, Malformed, Part, parse_tools

REPLIES = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text().splitlines()]


def named(index: int, entry: dict[str, Any]) -> str:
    return f"{index}-{entry['as']}"


def test_there_are_enough_of_each_kind() -> None:
    assert len(REPLIES) >= 200
    assert {entry["as"] for entry in REPLIES} == {"program", "action", "tools"}


@pytest.mark.parametrize("entry", [pytest.param(e, id=named(i, e)) for i, e in enumerate(REPLIES)])
def test_a_reply_is_read_as_labelled(entry: dict[str, Any]) -> None:
    reply, expected = entry["reply"], entry["expected"]
    match entry["as"]:
        case "program":
            parsed = parse_program(reply)
            assert parsed.code == expected.get("code", "")
            assert list(parsed.repairs) == expected.get("repairs", [])
            assert expected.get("reason", "") in parsed.reason
        case "action":
            assert action_of(reply) == expected["action"]
        case "tools" if "problem" in expected:
            found = parse_tools(reply, entry.get("schemas"))
            assert any(expected["problem"] in problem for problem in found.problems), found
        case "tools":
            parts = parse_tools(reply, entry.get("schemas")).parts
            assert [shown(p, e) for p, e in zip(parts, expected["parts"], strict=True)] == expected["parts"]


def shown(part: Part, expected: dict[str, Any]) -> dict[str, Any]:
    match part:
        case Call(name, arguments):
            return {"call": name, "arguments": dict(arguments)}
        case Answer(text):
            return {"answer": text}
        case Malformed(_, problem):
            words = expected.get("malformed", problem)
            return {"malformed": words if words in problem else problem}
