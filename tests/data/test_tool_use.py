"""Tool calls leave the factory as they were made, and schemas as they were declared."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from data.catalog import Catalog
from data.export import Blocked, Plan, export
from data.kinds.tool_results import results_of
from data.kinds.tool_use import told
from spade.acting import items_of
from spade.curation import Decision, Pool, Rules
from spade.tool_calls import text_beside_calls
from tests.data.records import chain
from tests.data.tool_records import TOOLS, call, desk, greeting, played


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "home")


def test_calls_and_schemas_survive_arrow(catalog: Catalog, tmp_path: Path) -> None:
    """Nested unions, arguments of several shapes, and nulls that were said: all of that and nothing else comes back."""
    env_id = desk(catalog)
    exported = export(catalog, tmp_path, Plan("sft-tools", "calls"))
    assert exported is not None
    rows = [json.loads(line) for line in (exported.folder / "train.jsonl").read_text().splitlines()]
    table = pq.read_table(exported.folder / "data" / "train-00000-of-00001.parquet")
    for stored, row in zip(table.to_pylist(), rows, strict=True):
        assert [json.loads(text) for text in stored["messages"]] == row["messages"]
        assert [json.loads(text) for text in stored["tools"]] == row["tools"]
    assert {row["env_id"] for row in rows} == {env_id}
    assert [tool["function"] for tool in rows[0]["tools"]] == TOOLS
    roles = [message["role"] for message in rows[0]["messages"]]
    assert roles == ["system", "user", *["assistant", "tool"] * 3, "assistant"]
    called = [c["function"]["arguments"] for m in rows[0]["messages"] for c in m.get("tool_calls", ())]
    assert called == [{"id": "A0"}, {"to": [1, None]}, {"to": {"deep": None}}]
    first, answer = rows[0]["messages"][2:4]
    assert first["content"] == "I look it up."
    assert (answer["name"], answer["tool_call_id"]) == ("find", first["tool_calls"][0]["id"])
    assert "<tools>" not in rows[0]["messages"][1]["content"]
    assert rows[0]["messages"][-1]["content"] == "That is all.\ndone"


def test_the_kinds_of_games_hold_no_tool_use(catalog: Catalog, tmp_path: Path) -> None:
    env_id = desk(catalog)
    exported = export(catalog, tmp_path, Plan("sft", "games"))
    assert exported is not None
    assert env_id not in (exported.folder / "train.jsonl").read_text()


def test_two_exports_are_the_same_bytes(catalog: Catalog, tmp_path: Path) -> None:
    desk(catalog)
    one, two = (export(catalog, tmp_path / place, Plan("sft-tools", "calls")) for place in "ab")
    assert one is not None
    assert two is not None
    assert (one.folder / "checksums.sha256").read_bytes() == (two.folder / "checksums.sha256").read_bytes()


def test_a_call_of_a_tool_that_nobody_declared_blocks(catalog: Catalog, tmp_path: Path) -> None:
    stray = played("", "", 5, [call("find", id="A"), call("vanish"), "done"], [greeting(TOOLS), "open", "gone"])
    desk(catalog, [stray])
    with pytest.raises(Blocked, match=r"bad_calls.*row-"):
        export(catalog, tmp_path, Plan("sft-tools", "stray"))


def test_what_is_no_call_is_no_positive(catalog: Catalog) -> None:
    broken = played("", "", 5, [call("find", id="A"), "I do not know"], [greeting(TOOLS), "open"])
    unread = played("", "", 6, [call("find", id="A"), "done"], ["<tools>\n{broken\n</tools>", "open"])
    desk(catalog, [broken, unread])
    (env_id,) = {e.env_id for e in catalog.environments(setting="tools")}
    ids = {e.episode_id: e.asked.play for e in catalog.episodes(env_id=env_id)}
    reasons = {ids[d.episode_id]: d.reason for d in catalog.decisions(pool=Pool.POSITIVE.value) if d.episode_id in ids}
    assert reasons == {5: "a turn without a tool call", 6: "a turn without a boxed action"}


SEVERAL = json.dumps([json.loads(call("find", id="A")), json.loads(call("move", to="a"))])


def test_several_calls_in_one_turn_have_an_answer_each(catalog: Catalog, tmp_path: Path) -> None:
    seen = '{"status": "open"}\nmoved\nRequest 1 is complete.\nRequest 2 of 3: Count.'
    play = played("", "", 5, [SEVERAL, "done"], [greeting(TOOLS), seen])
    desk(catalog, [play])
    exported = export(catalog, tmp_path, Plan("sft-tools", "several"))
    assert exported is not None
    (row,) = [json.loads(line) for line in (exported.folder / "train.jsonl").read_text().splitlines()]
    asked, *answers = row["messages"][2:5]
    assert [(c["id"], c["function"]["name"]) for c in asked["tool_calls"]] == [("call_1", "find"), ("call_1_2", "move")]
    assert [(m["role"], m["tool_call_id"], m["name"]) for m in answers] == [
        ("tool", "call_1", "find"),
        ("tool", "call_1_2", "move"),
    ]
    assert "\n".join(m["content"] for m in answers) == seen
    assert answers[1]["content"].startswith("moved\nRequest 1")


@pytest.mark.parametrize(
    "seen",
    [
        "open",
        "open\nmoved\nand more",
        "open\nRequest 1 is complete.\nmoved",
        "open\nRequest 1 is complete.",
        "Request 1 is complete.\nRequest 2 of 3: Count.\nopen\nmoved",
    ],
)
def test_answers_that_cannot_be_told_apart_are_left_out(catalog: Catalog, tmp_path: Path, seen: str) -> None:
    play = played("", "", 5, [SEVERAL, "done"], [greeting(TOOLS), seen])
    assert told(play) is None
    desk(catalog, [play])
    assert export(catalog, tmp_path, Plan("sft-tools", "several")) is None


def test_a_word_among_calls_is_left_out_but_at_the_end() -> None:
    ending = json.dumps([json.loads(call("find", id="A")), "done"])
    early = played("", "", 5, [ending, "done"], [greeting(TOOLS), "open\nNot every request is fulfilled."])
    assert told(early) is None
    late = told(played("", "", 5, [call("count"), ending], [greeting(TOOLS), "3"]))
    assert late is not None
    assert [c["function"]["name"] for c in late[-1]["tool_calls"]] == ["find"]


def test_the_sandbox_joins_answers_as_they_are_taken_apart() -> None:
    """The environment's own words, not those that this test's author remembers."""
    from sandbox.driver.tool_env import ToolEnv

    class Desk(ToolEnv):
        tools = TOOLS

        def setup(self, rng: object) -> None:
            self.state = {"ticks": 0}
            for wanted in (1, 2, 3):
                self.request(f"Tick {wanted}.", lambda state, wanted=wanted: state["ticks"] >= wanted)

        def tool_count(self) -> dict[str, int]:
            self.state["ticks"] += 1
            return dict(self.state)

        def tool_find(self, id: str = "") -> None: ...

        def tool_move(self, to: object = None) -> None: ...

    desk = Desk()
    desk.reset(seed=1)
    seen, *_ = desk.step(json.dumps([json.loads(call("count"))] * 3))
    answers = results_of(seen, 3)
    assert answers is not None
    assert [answer.split("\n")[0] for answer in answers] == ['{"ticks": 1}', '{"ticks": 2}', '{"ticks": 3}']
    assert results_of(seen, 2) is None
    assert results_of(seen, 4) is None


@pytest.mark.parametrize(
    ("reply", "beside"),
    [
        ('<think>Hm.</think>So:\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "<think>Hm.</think>So:"),
        ('\\boxed{{"name": "f", "arguments": {}}}', ""),
        ('I call {"name": "f", "arguments": {"a": {"b": 1}}}', "I call"),
        ("All is said.\ndone", "All is said.\ndone"),
        ("The box holds \\boxed{decline}", "The box holds \\boxed{decline}"),
    ],
)
def test_the_words_beside_calls(reply: str, beside: str) -> None:
    assert text_beside_calls(reply) == beside


@pytest.mark.parametrize(
    "action", ["", "nonsense", "[]", "3", '{"malformed": "x"}', '["later"]', '{"name": "f"}', "[" * 100_000]
)
def test_actions_that_are_no_calls(action: str) -> None:
    assert items_of(action) is None


def test_labels_that_are_nearly_all_alike_block(catalog: Catalog, tmp_path: Path) -> None:
    """Class balance: one loss in a hundred rows teaches nothing about losing."""
    chain(catalog, plays=40)
    lost = next(e for e in catalog.episodes(arm="plain") if not e.won)
    won = [e for e in catalog.episodes(arm="plain") if e.won]
    assert len(won) == 39
    catalog.append("decisions", [Decision(lost.episode_id, Pool.HARD_NEGATIVE, True, rules=Rules().name)])
    with pytest.raises(Blocked, match=r"mean"):
        export(catalog, tmp_path, Plan("kto", "unbalanced"))
