"""A cycle of tool-use environments in code mode with the judge: real gates, sandbox and loop; the model is scripted."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from data.catalog import Catalog
from flows.generate import finish_cycle, next_cycle
from spade.messages import Completion, Request, Role, Usage
from spade.prompting import render
from spade.skills import Setting
from spade.summary import CycleSummary
from tests.flows.test_cycle import parts_with

pytestmark = pytest.mark.usefixtures("prefect_server")


class KeyKeeper:
    """Designs the prompt's own example, reviews it as told, and plays it well: with one Hermes call after another."""

    name = weights = "key-keeper"

    def __init__(self, review: str) -> None:
        self.review = review
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = {
            Role.DESIGNER: lambda _: f"```python\n{render('skeleton_tools.txt')}\n```",
            Role.HINT: lambda _: "Look up whom and what a request names before you change anything.",
            Role.JUDGE: lambda _: self.review,
            Role.AGENT: keep_keys,
        }[request.role](request)
        return Completion(answer, self.name, self.weights, usage=Usage(100, 10))

    def asked(self, role: Role) -> list[str]:
        return [r.messages[-1].content for r in self.requests if r.role is role]


def keep_keys(request: Request) -> str:
    """Look the badge and the key up, make the change, decline what no tool can do, and be done."""
    heard = "\n".join(m.content for m in request.messages if m.role == "user")
    asked = re.findall(r"Request \d of 3: (.*)", heard)[-1]
    if "That was the last request" in heard:
        return "All fulfilled.\n\ndone"
    if "second key cut" in asked:
        return "No tool cuts keys.\n\ndecline"
    room = re.search(r"key of the (\w+)", asked)
    assert room is not None
    person = asked.split()[0]
    latest = heard.rpartition(asked)[2]
    key, badge = re.search(r"\b(K\d+), held by", latest), re.search(r"\b(B\d+)\b", latest.split("held by")[0])
    if key is None and "must hang" not in asked and badge is None:
        return call("find_badge", person=person)
    if key is None:
        return call("room_key", room=room[1])
    if "must hang" in asked:
        return call("take_back", key=key[1])
    assert badge is not None
    return call("hand_out", key=key[1], badge=badge[1])


def call(name: str, **arguments: str) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def cycle(model: KeyKeeper, home: Path) -> CycleSummary:
    from prefect import flow

    settings = {"cycle__setting": "tools", "cycle__slots": 1, "cycle__plays": 2, "designer__retries": 1}

    @flow(name="tools-cycle-under-test")
    async def run() -> CycleSummary:
        async with parts_with(model, home, judge__enabled=True, **settings) as parts:
            return await finish_cycle(parts, next_cycle(parts))

    return asyncio.run(run())


def test_a_tool_slot_is_designed_reviewed_and_played_by_tool_calls(tmp_path: Path) -> None:
    model = KeyKeeper("1. Yes. 2. Yes.\nVERDICT: PASS")

    summary = cycle(model, tmp_path)

    assert (summary.accepted, summary.first_try, summary.episodes, summary.measured) == (1, 1, 4, 4)
    assert (summary.win_rate_plain, summary.win_rate_hinted) == (1.0, 1.0)
    assert "(ToolEnv)" in model.requests[0].messages[0].content
    assert "KeyCabinetEnv" in model.asked(Role.JUDGE)[0]
    assert "level of phases" in model.asked(Role.HINT)[0]
    systems = {r.messages[0].content for r in model.requests if r.role is Role.AGENT}
    assert all("<tool_call>" in system for system in systems)
    catalog = Catalog(tmp_path)
    attempt = catalog.attempts()[0]
    catalog.close()
    assert [v.gate for v in attempt.verdicts][-1] == "semantic.judge"
    assert model_setting(tmp_path) == Setting.TOOLS


def model_setting(home: Path) -> Setting:
    catalog = Catalog(home)
    found = catalog.environments()[0].setting
    catalog.close()
    return found


@pytest.mark.parametrize("review", ["I am not sure about this one.", "VERDICT: FAIL The third request is unclear."])
def test_without_a_clear_yes_of_the_judge_nothing_is_accepted(tmp_path: Path, review: str) -> None:
    model = KeyKeeper(review)

    summary = cycle(model, tmp_path)

    assert (summary.accepted, summary.dropped, summary.episodes) == (0, 1, 0)
    assert summary.rejections == (("semantic.judge", 2),)
    assert summary.exhausted == (("semantic.judge", 1),)
    told = "The third request is unclear" in model.asked(Role.DESIGNER)[1]
    assert told is ("FAIL" in review)
