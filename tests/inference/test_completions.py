"""What a reply becomes: text, calls, cost, and tokens only when they are certain."""

import json
import math
from typing import Any

import pytest

from spade.messages import Message, Request, Role, Sampling, ToolCall, Usage
from tests import fakes_endpoint as says
from tests.fakes_endpoint import FakeEndpoint, Response
from tests.inference.asking import CHOICES, SCHEMA, connected, request


async def answered(answer: Response, asked: Request | None = None, owned_by: str = "somebody", **settings: Any) -> Any:
    async with FakeEndpoint(answer, owned_by=owned_by) as fake:
        fake.roads["/apply-template"] = says.raw(b'{"prompt": "<user>x"}')
        fake.roads["/tokenize"] = says.raw(b'{"tokens": [1, 2, 3, 4, 5, 6, 7]}')
        endpoint = await connected(fake, **settings)
        return await endpoint.complete(asked or request())


def vllm(**wrong: Any) -> Response:
    """vLLM's form: 7 prompt tokens, 3 of output."""
    entries = [{"token": t, "logprob": p} for t, p in (("a", -0.5), ("b", -1.0), ("", 0.0))]
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "ab"},
        "token_ids": [11, 12, 2],
        "logprobs": {"content": entries},
    }
    fields = {"prompt_token_ids": [1, 2, 3, 4, 5, 6, 7]} | {k: v for k, v in wrong.items() if k not in choice}
    return says.reply(choices=[choice | {k: v for k, v in wrong.items() if k in choice}], **fields)


def llama(*entries: dict[str, Any]) -> Response:
    return says.text("ab", logprobs={"content": list(entries)})


async def test_a_price_table_makes_a_cost() -> None:
    completion = await answered(says.text("hi"), price_per_million=(2.0, 10.0))

    assert completion.usage == Usage(7, 3, (7 * 2.0 + 3 * 10.0) / 1e6)


async def test_without_a_price_the_cost_is_unknown_not_zero() -> None:
    assert (await answered(says.text("hi"))).usage.cost is None


async def test_reasoning_is_kept_apart_under_either_name() -> None:
    for name in ("reasoning_content", "reasoning"):
        completion = await answered(says.text("", message={"content": "4", name: "2 and 2"}))
        assert (completion.text, completion.reasoning) == ("4", "2 and 2")


async def test_tool_calls_keep_their_arguments_as_sent() -> None:
    """Nested arguments, odd spacing and unknown tools are the environment's to judge."""
    wire = [
        {"id": "c1", "type": "function", "function": {"name": "nobody_knows", "arguments": '{"a": {"b" :[1]}}'}},
        {"id": "c2", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}},
    ]
    message = {"content": None, "tool_calls": wire}
    completion = await answered(says.text("", message=message, finish_reason="tool_calls"))

    assert completion.tool_calls == (
        ToolCall("c1", "nobody_knows", '{"a": {"b" :[1]}}'),
        ToolCall("c2", "f", '{"x": 1}'),
    )
    assert completion.finish_reason == "tool_calls"


async def test_a_lone_surrogate_becomes_storable() -> None:
    completion = await answered(says.raw(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}'))

    assert completion.text == "a\N{REPLACEMENT CHARACTER}b"
    assert completion.text.encode()


async def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert (await answered(says.text("", message={"content": parts}))).text == "ab"


async def test_vllm_tokens_are_taken_as_they_are() -> None:
    tokens = (await answered(vllm(), owned_by="vllm")).tokens

    assert tokens.prompt_ids == (1, 2, 3, 4, 5, 6, 7)
    assert tokens.output_ids == (11, 12, 2)
    assert tokens.logprobs == (-0.5, -1.0, 0.0)
    assert tokens.logprobs_of == "model"


WRONG_COUNTS = {
    "one id too few": ({"token_ids": [11, 12]}, "output_ids"),
    "ids that are no numbers": ({"token_ids": ["a", "b", "c"]}, "output_ids"),
    "a boolean id": ({"token_ids": [True, 1, 2]}, "output_ids"),
    "a negative id": ({"token_ids": [-1, 1, 2]}, "output_ids"),
    "a log-probability too few": ({"logprobs": {"content": [{"logprob": -1.0}]}}, "logprobs"),
    "a positive log-probability": ({"logprobs": {"content": [{"logprob": 1.0}] * 3}}, "logprobs"),
    "no log-probabilities": ({"logprobs": None}, "logprobs"),
    "a prompt of another length": ({"prompt_token_ids": [1]}, "prompt_ids"),
}


@pytest.mark.parametrize(("wrong", "field"), WRONG_COUNTS.values(), ids=WRONG_COUNTS)
async def test_tokens_that_contradict_the_count_are_left_out(wrong: dict[str, Any], field: str) -> None:
    """A wrong token is worse than none: it would be learned from."""
    completion = await answered(vllm(**wrong), owned_by="vllm")

    assert getattr(completion.tokens, field) is None
    assert completion.text == "ab"
    assert completion.tokens.logprobs is None or completion.tokens.output_ids is not None


async def test_llama_tokens_carry_the_probability_of_the_draw() -> None:
    entries = [{"id": 11, "prob": 0.5}, {"id": 12, "prob": 1.0}, {"id": 2, "prob": 0.25}]
    tokens = (await answered(llama(*entries), owned_by="llamacpp")).tokens

    assert tokens.output_ids == (11, 12, 2)
    assert tokens.prompt_ids == (1, 2, 3, 4, 5, 6, 7)
    assert tokens.logprobs == pytest.approx((math.log(0.5), 0.0, math.log(0.25)))
    assert tokens.logprobs_of == "sampling"


async def test_llama_tokens_under_a_guide_carry_the_models_own_log_probability() -> None:
    entries = [{"id": i, "logprob": -float(i)} for i in (1, 2, 3)]
    completion = await answered(llama(*entries), request(guide=CHOICES), owned_by="llamacpp")

    assert completion.tokens.logprobs == (-1.0, -2.0, -3.0)
    assert completion.tokens.logprobs_of == "model"
    assert completion.guided


async def test_an_endpoint_without_token_ids_gives_no_tokens() -> None:
    assert (await answered(vllm(), owned_by="openai")).tokens is None


async def test_a_reply_that_breaks_its_schema_is_not_called_guided() -> None:
    """Not every endpoint that takes a schema enforces it."""
    assert (await answered(says.text('{"a": 1}'), request(guide=SCHEMA))).guided
    assert not (await answered(says.text("a is 1"), request(guide=SCHEMA))).guided
    assert not (await answered(says.text("LEFT"), request(guide=CHOICES))).guided


async def test_a_refused_parameter_is_left_out_from_then_on() -> None:
    """Hosted endpoints differ in what they take; the first refusal teaches it."""

    def picky(body: dict[str, Any]) -> Response:
        for name in ("top_k", "max_tokens"):
            if name in body:
                error = {"message": f"Unsupported parameter: '{name}'", "param": name}
                return Response(400, json.dumps({"error": error}).encode())
        return says.text(str(body["max_completion_tokens"]))

    async with FakeEndpoint(picky) as fake:
        endpoint = await connected(fake)
        asked = Request((Message("user", "x"),), Sampling(max_tokens=9), Role.AGENT)

        assert (await endpoint.complete(asked)).text == "9"
        assert (await endpoint.complete(asked)).text == "9"
        assert len(fake.chats) == 4


async def test_sampling_reaches_the_wire() -> None:
    async with FakeEndpoint(owned_by="vllm") as fake:
        endpoint = await connected(fake)
        await endpoint.complete(Request((Message("user", "x"),), Sampling(0.7, 0.9, 5, 33, 4), Role.AGENT))

    body = fake.chats[0].body
    expected = {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "max_tokens": 33, "seed": 4, "repetition_penalty": 1.0}
    assert expected.items() <= body.items()


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    import asyncio

    async with FakeEndpoint(Response(body=says.text("x").body, hang=0.01)) as fake:
        endpoint = await connected(fake, concurrency=3)
        await asyncio.gather(*(endpoint.complete(request()) for _ in range(12)))

        assert fake.most_under_way == 3
