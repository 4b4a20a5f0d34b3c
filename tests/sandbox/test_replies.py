"""Bytes from a child become a reply or a refusal, whatever they are."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.bundles import _read
from sandbox.driver import frames
from sandbox.games import MAX_ACTION, encode, pack_some
from sandbox.replies import BadFrame, read_batch, read_reply, stepped
from spade.outcomes import CallOutcome, Reply, Step

REQUESTS = st.sampled_from([frames.LOAD, frames.RESET, frames.PLAY, frames.SOLVE])
KINDS = st.integers(0, 255)


@given(KINDS, st.binary(max_size=200), REQUESTS)
def test_any_bytes_are_a_reply_or_a_refusal(kind: int, body: bytes, asked: int) -> None:
    try:
        reply = read_reply(kind, body, asked)
    except BadFrame:
        return
    assert isinstance(reply, Reply)
    assert all(math.isfinite(step.reward) for step in reply.steps)


@given(KINDS | st.just(frames.STEPPED_MANY), st.binary(max_size=200), st.integers(0, 5))
def test_any_bytes_are_a_batch_or_a_refusal(kind: int, body: bytes, asked: int) -> None:
    try:
        reply = read_batch(kind, body, asked)
    except BadFrame:
        return
    assert len(reply.steps) <= asked


@given(KINDS | st.just(frames.BUNDLED), st.binary(max_size=200), st.integers(1, 4))
def test_any_bytes_are_a_bundle_or_a_refusal(kind: int, body: bytes, asked: int) -> None:
    calls = [(frames.PLAY_MANY, frames.pack_texts(["a", "b"]))] * asked
    try:
        replies = _read((kind, body), calls)
    except BadFrame:
        return
    assert 1 <= len(replies) <= asked


@settings(max_examples=50)
@given(st.lists(st.text(max_size=20) | st.just("\0"), max_size=20))
def test_texts_survive_the_way(texts: list[str]) -> None:
    assert frames.unpack_texts(frames.pack_texts(texts), 20) == texts


@given(st.text(alphabet=st.characters(), max_size=50), st.sampled_from([1, 1000, 5000]))
def test_an_action_is_valid_and_bounded(action: str, times: int) -> None:
    assert len(encode(action * times)) <= MAX_ACTION
    encode(action * times).decode()


@given(st.lists(st.text(alphabet=st.characters(), max_size=8), min_size=1, max_size=300))
def test_a_frame_of_actions_holds_the_first_of_them(actions: list[str]) -> None:
    body, count = pack_some(actions, 0)

    assert 1 <= count <= len(actions)
    assert frames.unpack_texts(body, count) == [encode(action).decode() for action in actions[:count]]


def test_a_record_made_the_short_way_is_the_same() -> None:
    step = Step("text", 0.5, True, False)

    assert stepped(step, 0.25) == Reply(CallOutcome.OK, steps=(step,), seconds=0.25)


@pytest.mark.parametrize("detail", [b"\x1b[2J", b"a\x00b", "\u202e".encode()])
def test_details_hold_nothing_that_steers_a_terminal(detail: bytes) -> None:
    assert read_reply(frames.RAISED, detail, frames.PLAY).detail.isprintable()


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_no_number_is_refused(reward: float) -> None:
    with pytest.raises(BadFrame):
        read_reply(frames.STEPPED, struct.pack("<dB", reward, 0), frames.PLAY)
