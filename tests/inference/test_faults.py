"""Every way an endpoint can fail ends in the error that says what the caller should do."""

import pytest

from spade.errors import Abort, Retry, Skip, TooLong
from tests import fakes_endpoint as says
from tests.fakes_endpoint import FakeEndpoint, Response
from tests.inference.asking import connected, request

RETRIES = 2
WORTH_ANOTHER_TRY = {
    "refuses": says.REFUSE,
    "cuts the reply": says.CUT,
    "a web page": says.HTML,
    "no choices": says.EMPTY,
    "not UTF-8": says.NOT_UTF8,
    "not JSON": says.raw(b"{"),
    "deep JSON": says.raw(b"[" * 200_000),
    "no object": says.raw(b"[1]"),
    "no message": says.reply(choices=[{"index": 0}]),
    "nameless tool call": says.text("", message={"content": None, "tool_calls": [{"id": "1", "function": {}}]}),
    "429": says.status(429, "slow down"),
    "408": says.status(408),
    "500": says.status(500, "oops"),
    "502": says.status(502),
    "503": says.status(503, "loading"),
}
HOPELESS_REQUEST = {
    "10 MB": says.TEN_MB,
    "too long": says.status(400, "This model's maximum context length is 2048 tokens"),
    "413": says.status(413),
    "filtered": says.status(400, "flagged by content policy"),
    "refusal": says.text("", message={"content": None, "refusal": "I cannot"}),
    "filter": says.text("", finish_reason="content_filter"),
    "bad request": says.status(400, "messages must alternate"),
}
HOPELESS_RUN = {
    "401": says.status(401, "Incorrect API key"),
    "403": says.status(403),
    "402": says.status(402, "pay"),
    "404": says.status(404, "The model `m` does not exist"),
    "unknown model": says.status(400, "model 'm' not found"),
    "redirect": says.status(307, location="https://elsewhere.example/v1"),
    "account used up": says.status(429, "You exceeded your current quota, insufficient_quota"),
    "501": says.status(501),
    "no tool parser": says.status(400, '"auto" tool choice requires --enable-auto-tool-choice'),
}


@pytest.mark.parametrize("fault", WORTH_ANOTHER_TRY.values(), ids=WORTH_ANOTHER_TRY)
async def test_a_passing_fault_is_tried_again(fault: Response) -> None:
    """One bad moment of an endpoint costs a call nothing but time."""
    async with FakeEndpoint(fault, says.text("hello")) as fake:
        endpoint = await connected(fake, retries=RETRIES)

        assert (await endpoint.complete(request())).text == "hello"
        assert len(fake.chats) == 2


@pytest.mark.parametrize("fault", WORTH_ANOTHER_TRY.values(), ids=WORTH_ANOTHER_TRY)
async def test_a_lasting_fault_is_the_callers_to_retry(fault: Response) -> None:
    async with FakeEndpoint(fault) as fake:
        endpoint = await connected(fake, retries=RETRIES)

        with pytest.raises(Retry, match=r"127\.0\.0\.1"):
            await endpoint.complete(request())
        assert len(fake.chats) == RETRIES + 1


@pytest.mark.parametrize("fault", HOPELESS_REQUEST.values(), ids=HOPELESS_REQUEST)
async def test_a_request_beyond_help_is_skipped_at_once(fault: Response) -> None:
    async with FakeEndpoint(fault) as fake:
        endpoint = await connected(fake, retries=RETRIES)

        with pytest.raises(Skip, match=r"127\.0\.0\.1"):
            await endpoint.complete(request())
        assert len(fake.chats) == 1


@pytest.mark.parametrize("name", HOPELESS_REQUEST)
async def test_a_request_longer_than_the_context_can_be_told_from_others(name: str) -> None:
    async with FakeEndpoint(HOPELESS_REQUEST[name]) as fake:
        endpoint = await connected(fake, retries=RETRIES)

        with pytest.raises(Skip) as caught:
            await endpoint.complete(request())
        assert isinstance(caught.value, TooLong) == (name in {"too long", "413"})


@pytest.mark.parametrize("fault", HOPELESS_RUN.values(), ids=HOPELESS_RUN)
async def test_what_fails_every_call_stops_the_run_with_a_remedy(fault: Response) -> None:
    async with FakeEndpoint(fault) as fake:
        endpoint = await connected(fake, retries=RETRIES)

        with pytest.raises(Abort, match=r"127\.0\.0\.1") as caught:
            await endpoint.complete(request())
        assert caught.value.remedy
        assert len(fake.chats) == 1


async def test_a_hanging_endpoint_meets_the_deadline() -> None:
    async with FakeEndpoint(says.HANG) as fake:
        endpoint = await connected(fake, retries=1, seconds=0.05)

        with pytest.raises(Retry, match="gave no answer within"):
            await endpoint.complete(request())
        assert len(fake.chats) == 2


async def test_an_endpoint_that_went_away_is_the_callers_to_retry() -> None:
    async with FakeEndpoint() as fake:
        endpoint = await connected(fake, retries=1)
        await endpoint.aclose()

    with pytest.raises(Retry, match="Nothing answers"):
        await endpoint.complete(request())


async def test_the_pause_an_endpoint_asks_for_is_kept() -> None:
    """Coming back sooner than asked is how clients get banned."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with FakeEndpoint(says.status(429, retry_after="7"), says.status(503), says.text("hello")) as fake:
        endpoint = await connected(fake)
        endpoint.sleep = sleep
        await endpoint.complete(request())

    assert pauses == [7.0, 0.0]


async def test_no_message_shows_the_key() -> None:
    key = "sk-very-secret"
    async with FakeEndpoint(says.status(401, f"Incorrect API key provided: {key}")) as fake:
        endpoint = await connected(fake, api_key=key)

        with pytest.raises(Abort) as caught:
            await endpoint.complete(request())
        assert fake.chats[0].headers["authorization"] == f"Bearer {key}"
        assert key not in str(caught.value) + repr(endpoint)
