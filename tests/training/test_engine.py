"""The engine in this process: exact tokens, the distribution's own log-probabilities, and weights that flow back."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from inference.in_process.engine import Size, TorchEngine  # noqa: E402
from inference.in_process.rendering import Renderer  # noqa: E402
from spade.blueprints import blueprint_schema, parse_blueprint  # noqa: E402
from spade.blueprints.mechanic import Blueprint  # noqa: E402
from spade.episodes import Arm, Asked, Episode, ModelPolicy, play  # noqa: E402
from spade.errors import Skip  # noqa: E402
from spade.messages import Completion, Guide, Message, Request, Role, Sampling  # noqa: E402
from spade.skills import Skill  # noqa: E402
from spade.training_settings import RoleTraining, TrainingSettings  # noqa: E402
from tests.fakes import GuessGame  # noqa: E402
from training.averaging import served_state  # noqa: E402
from training.batches import agent_part, make_batch  # noqa: E402
from training.learner import Learner  # noqa: E402
from training.policy import policy_of  # noqa: E402
from training.samples import Limits  # noqa: E402
from training.scratch import scratch_model, scratch_tokenizer  # noqa: E402

TEXTS = ["Guess a number from 1 to 9.", "higher.", "lower.", "Right.", "\\boxed{1}", "You are at row 2 column 3."] * 20
DRAW = Sampling(temperature=0.7, top_p=1.0, top_k=0, max_tokens=12, seed=3)
NUMBERS = Guide(choices=tuple(f"\\boxed{{{n}}}" for n in range(1, 13)))


@cache
def tokenizer() -> Any:
    return scratch_tokenizer(TEXTS, 400)


def engine(**size: int) -> TorchEngine:
    model = scratch_model(tokenizer(), width=32, seed=1)
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(2)
    return TorchEngine({"agent": model}, tokenizer(), name="scratch", weights="w0", size=Size(**size))


def ask(text: str, guide: Guide | None = None, sampling: Sampling = DRAW, role: Role = Role.AGENT) -> Request:
    return Request((Message("user", text),), sampling, role, guide=guide)


def answers(served: TorchEngine, requests: Sequence[Request]) -> list[Completion]:
    async def all_of_them() -> list[Completion]:
        return list(await asyncio.gather(*(served.complete(request) for request in requests)))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("guide", [None, NUMBERS, Guide(digits=2, prefix="\\boxed{", suffix="}"), Guide(digits=5)])
def test_log_probabilities_are_those_of_the_distribution_that_was_drawn_from(guide: Guide | None) -> None:
    served = engine()
    requests = [ask(text, guide, replace(DRAW, seed=n)) for n, text in enumerate(TEXTS[:6])]
    for completion in answers(served, requests):
        tokens = completion.tokens
        assert tokens is not None
        assert tokens.prompt_ids is not None
        assert tokens.output_ids is not None
        assert tokens.logprobs_of == "sampling"
        start = len(tokens.prompt_ids)
        places = range(start, start + len(tokens.output_ids))
        choices = tokens.allowed or ((),) * len(places)
        scored = served.score("agent", tokens.prompt_ids + tokens.output_ids, places, choices, DRAW.temperature)
        assert tokens.logprobs == pytest.approx(scored, abs=1e-4)


def test_what_is_drawn_depends_on_the_seed_and_not_on_the_company() -> None:
    requests = [ask(text, None, replace(DRAW, seed=n)) for n, text in enumerate(TEXTS[:6])]
    together = [c.tokens for c in answers(engine(), requests)]
    alone = [answers(engine(), [request])[0].tokens for request in requests]
    assert [t.output_ids for t in together if t] == [t.output_ids for t in alone if t]
    assert len({t.output_ids for t in together if t}) > 1


def test_draws_follow_the_distribution() -> None:
    """Over 600 seeds the frequency of each choice is its probability, within four standard errors."""
    served = engine(batch=200)
    completions = answers(served, [ask("Guess.", NUMBERS, replace(DRAW, seed=n)) for n in range(600)])
    for text in {c.text for c in completions}:
        some = next(c for c in completions if c.text == text)
        assert some.tokens is not None
        probability = float(torch.tensor(some.tokens.logprobs).sum().exp())
        share = sum(c.text == text for c in completions) / 600
        assert abs(share - probability) < 4 * (probability * (1 - probability) / 600) ** 0.5 + 1e-3


def test_guided_replies_are_what_the_guide_allows() -> None:
    served = engine(context=4096)
    assert answers(served, [ask("Guess.", NUMBERS)])[0].text in NUMBERS.choices
    schema = {"anyOf": [{"type": "object", "properties": {"a": {"const": "x"}, "n": {"enum": [1, 22]}},
              "required": ["a", "n"], "additionalProperties": False}]}  # fmt: skip
    reply = answers(served, [ask("Design.", Guide(schema=schema), replace(DRAW, max_tokens=99))])[0]
    assert json.loads(reply.text)["n"] in (1, 22)
    assert reply.finish_reason == "stop"


def test_a_blueprint_can_be_decoded_under_its_schema() -> None:
    skill = Skill.OPTIMIZATION
    request = ask("Design.", Guide(schema=blueprint_schema(skill)), replace(DRAW, max_tokens=1500), Role.DESIGNER)
    reply = answers(engine(), [request])[0]
    assert isinstance(parse_blueprint(reply.text, skill), Blueprint)
    assert reply.tokens is not None


def test_a_next_turn_is_read_from_where_the_last_one_ended() -> None:
    """The same reply with and without what is remembered, and only the new tokens are read."""
    with_memory, without = engine(), engine(recalled=0)
    first = answers(with_memory, [ask(TEXTS[0], NUMBERS)])[0]
    messages = (Message("user", TEXTS[0]), Message("assistant", first.text), Message("user", "higher."))
    request = Request(messages, DRAW, Role.AGENT, guide=NUMBERS)
    remembered = with_memory._recall.longest("agent", with_memory._job(request).prompt)  # type: ignore[union-attr]
    assert remembered is not None
    assert first.tokens is not None
    assert remembered.length >= len(first.tokens.prompt_ids or ())
    one, two = answers(with_memory, [request])[0], answers(without, [request])[0]
    assert one.text == two.text
    assert one.tokens is not None
    assert two.tokens is not None
    assert one.tokens.logprobs == pytest.approx(two.tokens.logprobs, abs=1e-4)


def test_a_conversation_beyond_the_context_is_refused() -> None:
    with pytest.raises(Skip, match="context"):
        answers(engine(context=20), [ask("Guess. " * 50)])


def plays(served: TorchEngine, count: int = 12) -> list[Episode]:
    async def one(number: int) -> Episode:
        policy = ModelPolicy(served, replace(DRAW, seed=number), NUMBERS)
        return await play(GuessGame(), policy, Asked("cycle", "env", 0, Arm.PLAIN, number, number), "", max_turns=5)

    async def all_of_them() -> list[Episode]:
        return list(await asyncio.gather(*(one(n) for n in range(count))))

    return asyncio.run(all_of_them())


def test_plays_become_samples_with_ratio_one_and_updates_flow_back() -> None:
    """The whole loop: play, learn, swap, play. The probe: what is served is what was trained, before and after."""
    served = engine()
    settings = TrainingSettings(agent=RoleTraining(learning_rate=3e-3))
    learner = Learner(policy_of(scratch_model(tokenizer(), width=32, seed=1), tokenizer(), settings), settings)
    learner.policy.parts["agent"].model.load_state_dict(served.models["agent"].state_dict())
    episodes = plays(served)
    samples, report = agent_part(episodes, DRAW, Limits(len(tokenizer())))
    assert report.skipped == ()
    assert {e.weights for e in episodes} == {"w0"}
    assert all(len(s.at) >= 1 for s in samples)

    figures = learner.update(make_batch((samples, report))).roles["agent"]
    assert figures.ratio == pytest.approx(1.0, abs=1e-4)
    assert figures.exploded == 0
    probe = samples[0]
    before = served.score("agent", probe.ids, probe.at, probe.allowed, probe.temperature)
    served.swap({"agent": served_state(learner, "agent")}, "w1")
    after = served.score("agent", probe.ids, probe.at, probe.allowed, probe.temperature)
    assert before == pytest.approx(probe.logprobs, abs=1e-4)
    assert after == pytest.approx(learner.score([probe])[0], abs=1e-4)
    assert after != pytest.approx(before, abs=1e-4)
    assert {e.weights for e in plays(served, 2)} == {"w1"}


def test_rendering_in_pieces_is_what_the_tokenizer_says() -> None:
    renderer = Renderer(tokenizer())
    said = [Message("user", "Guess a number.\n1 to 9"), Message("assistant", "\\boxed{5}"), Message("user", " lower. ")]
    whole = tokenizer().apply_chat_template([m.wire() for m in said], tokenize=False, add_generation_prompt=True)
    assert renderer._in_pieces
    assert renderer._template is not None
    assert renderer.ids([m.wire() for m in said]) == tokenizer()(whole, add_special_tokens=False)["input_ids"]
