"""The base class of tool-use environments, played inside a sandbox as an agent would."""

import json

import pytest

from spade.outcomes import CallOutcome
from spade.ports import Limits, Sandbox

LIMITS = Limits(wall_seconds=2.0)

ORDERS = '''
def schema(name, **properties):
    kinds = {key: {"type": kind} for key, kind in properties.items()}
    return {"name": name, "description": f"{name} it.",
            "parameters": {"type": "object", "properties": kinds, "required": list(properties)}}

class OrdersEnv(ToolEnv):
    """An order desk."""

    intro = "You run the order desk of a small shop."
    tools = [schema("find_order", order_id="string"), schema("cancel_order", order_id="string"),
             schema("set_stock", item="string", count="integer"), schema("weather")]
    max_turns = 8

    def setup(self, rng):
        self.target = rng.choice(["A1", "B2"])
        self.state = {"orders": {"A1": "open", "B2": "open"}, "stock": {"pen": 3}, "looked": []}
        self.request(f"Cancel order {self.target}.", lambda state: state["orders"][self.target] == "cancelled")
        self.request("Repaint the shop.", None)
        self.request("There are 7 pens now.", lambda state: state["stock"]["pen"] == 7)

    def tool_find_order(self, order_id):
        self.state["looked"].append(order_id)
        return {"status": self.state["orders"].get(order_id, "unknown")}

    def tool_cancel_order(self, order_id):
        if order_id not in self.state["orders"]:
            raise self.Refused("there is no such order")
        self.state["orders"][order_id] = "cancelled"
        return "Cancelled."

    def tool_set_stock(self, item, count):
        self.state["stock"][item] = count
        return "Set."

    def tool_weather(self):
        return "Sunny."

    def solution(self):
        return [self.call("find_order", order_id=self.target), self.call("cancel_order", order_id=self.target),
                "decline", self.call("set_stock", item="pen", count=7), "done"]
'''


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def play(
    sandbox: Sandbox, actions: list[str] | None = None, program: str = ORDERS
) -> tuple[str, list[str], float]:
    """The first observation, the others, and the return."""
    opened = await sandbox.open(program, LIMITS)
    assert opened.game is not None, opened.reply
    start = await opened.game.reset(3)
    assert start.ok, start.detail
    if actions is None:
        actions = list((await opened.game.solution()).actions)
    reply = await opened.game.steps(actions)
    await opened.game.close()
    assert reply.ok, reply.detail
    return start.observation, [step.observation for step in reply.steps], sum(step.reward for step in reply.steps)


async def test_the_solution_is_paid_in_full(sandbox: Sandbox) -> None:
    start, seen, total = await play(sandbox)

    assert "<tools>" in start
    assert "Request 1 of 3: Cancel order" in start
    assert "Request 1 is complete.\nRequest 2 of 3: Repaint" in seen[1]
    assert total == 1.0


async def test_several_calls_fit_in_one_action(sandbox: Sandbox) -> None:
    both = f"[{call('cancel_order', order_id='A1')}, {call('cancel_order', order_id='B2')}]"
    _, seen, total = await play(sandbox, [both, "decline", call("set_stock", item="pen", count=7), " Done. "])

    assert seen[0].count("Cancelled.") == 2
    assert total == 1.0


@pytest.mark.parametrize("actions", [["done"], ["decline"], [call("weather")] * 9, ["[]", "{}", "", "hello", "done"]])
async def test_nothing_else_pays(sandbox: Sandbox, actions: list[str]) -> None:
    assert (await play(sandbox, actions))[2] == 0.0


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("paint it", "not a call"),
        ("[" * 10_000, "not a call"),
        ("5", "an object with"),
        ("[]", "empty"),
        (call("fly"), "no tool 'fly'"),
        (call("find_order"), "'order_id' is missing"),
        (call("find_order", order_id="A1", x=1), "no argument 'x'"),
        (call("find_order", order_id=5), "must be of type string, not 5"),
        (call("set_stock", item="pen", count=True), "must be of type integer"),
        (call("set_stock", item="pen", count="7"), "must be of type integer"),
        ('{"name": "find_order", "arguments": []}', "arguments must be an object"),
        (call("cancel_order", order_id="Z9"), "there is no such order"),
    ],
)
async def test_a_wrong_call_is_answered_in_words(sandbox: Sandbox, action: str, words: str) -> None:
    _, seen, _ = await play(sandbox, [action])

    assert words in seen[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'count="integer"',
            'amount="integer"',
            "tool_set_stock takes (item, count); its schema declares (item, amount)",
        ),
        ('schema("weather")', 'schema("climate")', "differ: climate, weather"),
        ('schema("weather")]', "][:2]", "3 to 8 declarations"),
        ('== "cancelled")', '== "open")', "request 1 holds before anything was done"),
        ('self.request("Repaint the shop.", None)', "pass", "3 to 5 requests, not 2"),
        ("def tool_weather(self)", "def tool_weather(self, *places)", "tool_weather takes (places)"),
        ("def tool_weather(self)", "def tool_weather(self, place)", "tool_weather takes (place)"),
    ],
)
async def test_an_environment_that_is_not_one_says_why(sandbox: Sandbox, old: str, new: str, words: str) -> None:
    opened = await sandbox.open(ORDERS.replace(old, new), LIMITS)
    reply = opened.reply if opened.game is None else await opened.game.reset(0)
    if opened.game is not None:
        await opened.game.close()

    assert (reply.outcome, words in reply.detail) == (CallOutcome.ENV_ERROR, True), reply
